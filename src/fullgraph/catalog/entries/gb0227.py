"""With `graph_break_on_nn_param_ctor` off, the compiled function makes a parameter from a tensor
subclass.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"graph_break_on_nn_param_ctor": False}


class Color(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def inputs():
    return torch.rand(4, 3), torch.rand(3).as_subclass(Color)


def breaks(pixels, tint):
    weight = nn.Parameter(tint * 0.5)
    return pixels * weight


def with_weight(pixels, tint):
    return pixels, nn.Parameter(tint * 0.5)


@fix("move", "exact", before=with_weight)
def fixed(pixels, weight):
    """The parameter is made once, outside, so it keeps its class and is an input of the graph."""
    return pixels * weight
