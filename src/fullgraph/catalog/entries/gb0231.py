"""A forward converts a table stored as a NumPy array to a tensor, with NumPy tracing disabled."""

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
    """The table is converted to a tensor once, when the module is imported, so it is an input of
    the graph.
    """
    return x * TABLE_TENSOR


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, which is the default, Dynamo treats arrays as tensors."""
    return x * torch.from_numpy(TABLE)
