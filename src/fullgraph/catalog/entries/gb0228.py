"""With `graph_break_on_nn_param_ctor` off, the compiled function can make a parameter, but not in
the `__init__` of an object that it makes.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"graph_break_on_nn_param_ctor": False}


class Scale:
    def __init__(self, size):
        self.weight = nn.Parameter(torch.full((size,), 0.5))

    def __call__(self, x):
        return x * self.weight


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scale = Scale(8)
    return scale(x)


def with_scale(x):
    return x, Scale(8)


@fix("move", "exact", before=with_scale)
def fixed(x, scale):
    """The caller makes the object, so its parameter is an input of the graph. It can then also be
    trained, unlike a parameter that each call makes again.
    """
    return scale(x)
