"""Code that accepts many kinds of arguments asks one of them with `hasattr` what it can do. For
some kinds, a slice for instance, Dynamo has no answer.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), slice(0, 2)


def breaks(x, index):
    if hasattr(index, "shape"):
        return x[index.long()] * 2
    return x[index] * 2


@fix("rewrite", "exact")
def fixed(x, index):
    """Asking for the type says the same, and is known while tracing."""
    if isinstance(index, torch.Tensor):
        return x[index.long()] * 2
    return x[index] * 2
