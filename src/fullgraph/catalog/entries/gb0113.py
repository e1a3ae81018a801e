"""A subclass reads a default of its base class through `super()`, and that default is None, zero or
empty. Dynamo treats a false value as a missing attribute.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Layer:
    shift = 0.0


class ShiftedLayer(Layer):
    shift = 1.0

    def apply(self, x):
        return x + self.shift - super().shift

    def apply_by_name(self, x):
        return x + self.shift - Layer.shift


layer = ShiftedLayer()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return layer.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """The attribute is read from the base class by name, which is where super() finds it."""
    return layer.apply_by_name(x)
