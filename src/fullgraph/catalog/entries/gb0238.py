"""A configuration that pytree knows as a constant is made inside the compiled function and handed
to a function marked with `torch._dynamo.nonstrict_trace`.
"""

import torch
from torch.utils import _pytree as pytree

from fullgraph.catalog.fix_decorator import fix


class Settings:
    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return isinstance(other, Settings) and self.scale == other.scale

    def __hash__(self):
        return hash(self.scale)


pytree.register_constant(Settings)


def inputs():
    return torch.randn(4, 8)


@torch._dynamo.nonstrict_trace
def scaled(x, settings):
    return torch.tanh(x * settings.scale)


def breaks(x):
    return scaled(x, Settings(2.0)) + 1


SETTINGS = Settings(2.0)


@fix("rewrite", "exact")
def fixed(x):
    """The object exists before the compiled function, as a global here or an argument or an
    attribute of the model, so the graph can hold that very object."""
    return scaled(x, SETTINGS) + 1
