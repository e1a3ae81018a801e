"""The name of a submodule is built from a number that changes between calls: `getattr(model,
"layer{}".format(depth))`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

COMPILE = {"dynamic": True}


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer4 = torch.nn.Linear(8, 8)
        self.layer5 = torch.nn.Linear(8, 8)


def inputs():
    return Stack(), torch.randn(2, 8), 4


def breaks(model, x, depth):
    return getattr(model, "layer{}".format(depth))(x)


def name_layer(model, x, depth):
    return model, x, f"layer{depth}"


@fix("move", "exact", before=name_layer)
def fixed(model, x, name):
    """A string argument is a constant of the graph, so each name has its own graph."""
    return getattr(model, name)(x)
