"""A function of NumPy is called in a function that is compiled with the tracing of NumPy switched
off.
"""

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
    """torch has the function too, and no detour is needed."""
    return x + torch.arange(8.0, dtype=torch.float64)


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, the default, NumPy's functions become operators of torch."""
    positions = np.arange(8.0)
    return x + torch.from_numpy(positions)
