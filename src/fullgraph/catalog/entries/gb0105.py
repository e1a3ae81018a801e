"""`x.numpy()` in a function that is compiled with the tracing of NumPy switched off."""

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
    """torch has the function too, and no detour is needed."""
    return x.clamp(0.0, 1.0)


@fix("setting", "exact", trace_numpy=True)
def fixed_by_tracing(x):
    """With trace_numpy, the default, NumPy's functions become operators of torch."""
    values = x.numpy()
    return torch.from_numpy(values.clip(0.0, 1.0))
