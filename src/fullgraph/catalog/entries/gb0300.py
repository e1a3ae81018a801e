"""`np.finfo(values)` or `np.dtype(values)` gets the array instead of its dtype. Eager mode raises
as well.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    values = x.numpy()
    return x / (np.abs(values).max() + np.finfo(values).eps)


@fix("rewrite", "exact")
def fixed(x):
    """torch.finfo takes the dtype of a tensor, which is a constant during tracing."""
    return x / (x.abs().max() + torch.finfo(x.dtype).eps)
