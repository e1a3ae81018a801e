"""With `graph_break_on_nn_param_ctor` off and dynamic shapes, the compiled function makes a
parameter with the size of the batch.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"graph_break_on_nn_param_ctor": False}
COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    weight = nn.Parameter(torch.ones(x.shape[0]))
    return (x * weight[:, None]).sum(dim=0)


def with_weight(x):
    return x, nn.Parameter(torch.ones(x.shape[0]))


@fix("move", "exact", before=with_weight)
def fixed(x, weight):
    """As an input of the graph, the parameter can have a symbolic size."""
    return (x * weight[:, None]).sum(dim=0)
