"""An object is turned into another kind in place, `layer.__class__ = Scaled`, to swap its behaviour
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
    """The swap happens once, before the first call; the graph sees only the new class."""
    return layer.apply(x)
