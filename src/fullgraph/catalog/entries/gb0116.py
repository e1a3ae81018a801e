"""A class stores a bound method of another object, `scale = staticmethod(scaler.scale)`. Dynamo
does not know the source of the bound method and cannot represent it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def scale(self, x):
        return x * self.factor


scaler = Scaler(2)


class Pipeline:
    scale = staticmethod(scaler.scale)


class PlainPipeline:
    scaler = scaler


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return Pipeline().scale(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """The class stores the object, and the method is looked up at the call."""
    return PlainPipeline().scaler.scale(x) + 1
