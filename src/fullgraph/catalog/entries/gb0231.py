"""A table that is kept as a NumPy array is made a tensor in the forward, with the tracing of NumPy
switched off.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_numpy": False}

TABLE = np.linspace(0.0, 1.0, 8)
TABLE_TENSOR = torch.from_numpy(TABLE)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * torch.from_numpy(TABLE)


@fix("move", "exact")
def fixed(x):
    """Made a tensor once, when the module is imported, it is an input of the graph."""
    return x * TABLE_TENSOR


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, the default, Dynamo treats arrays as tensors."""
    return x * torch.from_numpy(TABLE)
