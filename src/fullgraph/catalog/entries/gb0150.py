"""Code that accepts many kinds of arguments inspects one of them with `hasattr`. For some kinds,
such as a slice, Dynamo does not support `hasattr`.
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
    """A type check distinguishes the same cases, and the type is known during tracing."""
    if isinstance(index, torch.Tensor):
        return x[index.long()] * 2
    return x[index] * 2
