"""The compiled function makes a configuration object registered as a pytree constant. It passes the
object to a function marked with `torch._dynamo.nonstrict_trace`.
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
    """The object exists before the call: as a global, an argument or an attribute of the model. The
    graph can therefore hold the object itself.
    """
    return scaled(x, SETTINGS) + 1
