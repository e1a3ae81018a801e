"""A function marked with `torch._dynamo.nonstrict_trace` takes a configuration object. Its
arguments may only be tensors, numbers and containers that pytree supports.
"""

import torch
from torch.utils import _pytree as pytree

from fullgraph.catalog.fix_decorator import fix


class Settings:
    def __init__(self, scale):
        self.scale = scale


def inputs():
    return torch.randn(4, 8), Settings(2.0)


@torch._dynamo.nonstrict_trace
def scaled(x, settings):
    return torch.tanh(x * settings.scale)


def breaks(x, settings):
    return scaled(x, settings) + 1


@torch._dynamo.nonstrict_trace
def scaled_by_number(x, scale):
    return torch.tanh(x * scale)


@fix("rewrite", "exact")
def fixed(x, settings):
    """The function takes the number that it needs instead of the whole object."""
    return scaled_by_number(x, settings.scale) + 1


class ConstantSettings:
    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return isinstance(other, ConstantSettings) and self.scale == other.scale

    def __hash__(self):
        return hash(self.scale)


pytree.register_constant(ConstantSettings)


def make_constant(x, settings):
    return x, ConstantSettings(settings.scale)


@fix("rewrite", "exact", before=make_constant)
def fixed_as_a_constant(x, settings):
    """A class with equality and a hash can be registered as a constant. The graph holds the object,
    and Dynamo guards on its equality.
    """
    return scaled(x, settings) + 1
