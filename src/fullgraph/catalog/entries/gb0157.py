"""NumPy code reads the `dtype` (or `flags`, or `base`) of an array to make another array like it.
During tracing the array is a tensor, which has no such attribute.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    values = x.numpy()
    padding = np.zeros((4, 2), dtype=values.dtype)
    return torch.from_numpy(np.concatenate([values, padding], axis=1))


@fix("rewrite", "exact")
def fixed(x):
    """The dtype of a tensor is a constant during tracing, and torch needs no NumPy array."""
    padding = torch.zeros((4, 2), dtype=x.dtype)
    return torch.cat([x, padding], dim=1)
