"""The class of an object is replaced in place, `layer.__class__ = Scaled`, to change its behavior
without copying its state.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Plain:
    def __init__(self, weight):
        self.weight = weight

    def apply(self, x):
        return x @ self.weight


class Scaled(Plain):
    def apply(self, x):
        return x @ self.weight * 0.5


def inputs():
    return Plain(torch.randn(8, 4)), torch.randn(2, 8)


def breaks(layer, x):
    layer.__class__ = Scaled
    return layer.apply(x)


def convert(layer, x):
    layer.__class__ = Scaled
    return layer, x


@fix("move", "exact", before=convert)
def fixed(layer, x):
    """The caller replaces the class before the call, and the graph sees only the new class."""
    return layer.apply(x)
