"""A function that was defined on the spot is bound to an object by hand, by the descriptor
protocol. Dynamo does that for functions that existed before, not for ones that it has just seen
being made.
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
    """A partial holds the first argument as a bound method would."""

    def scaled(tensor, factor):
        return tensor * factor

    method = partial(scaled, x)
    return method(2) + method(3)
