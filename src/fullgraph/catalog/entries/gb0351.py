"""The body of a `map` over the rows gets a settings object as an additional argument. The arguments
of the body become inputs of a graph, which must be tensors or numbers.
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
    """The body closes over the number, which is a constant of the graph."""
    scale = settings.scale

    def body(row):
        return torch.tanh(row * scale)

    return map_rows(body, x)
