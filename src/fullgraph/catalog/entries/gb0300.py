"""`np.finfo(values)` or `np.dtype(values)` is called with the array where its dtype was
meant. Eager raises as well.
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
    """torch.finfo takes the dtype of a tensor, which is a constant while tracing."""
    return x / (x.abs().max() + torch.finfo(x.dtype).eps)
