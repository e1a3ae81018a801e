"""A NumPy function is called in a function that is compiled with NumPy tracing disabled."""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_numpy": False}


def inputs():
    return torch.randn(4, 8, dtype=torch.float64)


def breaks(x):
    positions = np.arange(8.0)
    return x + torch.from_numpy(positions)


@fix("rewrite", "exact")
def fixed(x):
    """torch has the same function, so NumPy is not needed."""
    return x + torch.arange(8.0, dtype=torch.float64)


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, which is the default, NumPy functions become torch operators."""
    positions = np.arange(8.0)
    return x + torch.from_numpy(positions)
