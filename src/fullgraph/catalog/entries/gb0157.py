"""NumPy code asks an array for its `dtype` (or `flags`, or `base`) to make another one like it.
While tracing, the array is really a tensor that has no such attribute.
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
    """A tensor's dtype is a constant while tracing, and torch needs no detour."""
    padding = torch.zeros((4, 2), dtype=x.dtype)
    return torch.cat([x, padding], dim=1)
