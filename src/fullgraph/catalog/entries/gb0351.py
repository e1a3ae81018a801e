"""The body of a `map` over the rows gets an object with its settings as an extra argument. The
arguments of such a body become inputs of a graph, and only tensors and numbers can be that.
"""

import torch
from torch._higher_order_ops import map as map_rows

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Settings:
    def __init__(self, scale):
        self.scale = scale


def inputs():
    return torch.randn(4, 8), Settings(2.0)


def breaks(x, settings):
    def body(row, settings):
        return torch.tanh(row * settings.scale)

    return map_rows(body, x, settings)


@fix("rewrite", "exact")
def fixed(x, settings):
    """The body reads the number from around it, where it is a constant of the graph."""
    scale = settings.scale

    def body(row):
        return torch.tanh(row * scale)

    return map_rows(body, x)
