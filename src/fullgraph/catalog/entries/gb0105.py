"""A function calls `x.numpy()` and is compiled with NumPy tracing disabled."""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_numpy": False}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    values = x.numpy()
    return torch.from_numpy(values.clip(0.0, 1.0))


@fix("rewrite", "exact")
def fixed(x):
    """torch has the same function, so NumPy is not needed."""
    return x.clamp(0.0, 1.0)


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, which is the default, NumPy functions become torch operators."""
    values = x.numpy()
    return torch.from_numpy(values.clip(0.0, 1.0))
