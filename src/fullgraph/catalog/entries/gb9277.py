"""A nested function is bound to an object explicitly, with the descriptor protocol. Dynamo supports
this for functions that existed before, but not for functions made during tracing.
"""

from functools import partial
from types import FunctionType

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def scaled(tensor, factor):
        return tensor * factor

    method = FunctionType.__get__(scaled, x)
    return method(2) + method(3)


@fix("rewrite", "exact")
def fixed(x):
    """A partial holds the first argument, as a bound method does."""

    def scaled(tensor, factor):
        return tensor * factor

    method = partial(scaled, x)
    return method(2) + method(3)
