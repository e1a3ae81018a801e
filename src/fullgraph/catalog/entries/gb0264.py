"""A layer makes its parameter in `forward`, because the size of the input is known only there."""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    weight = nn.Parameter(torch.ones(x.shape[-1]))
    return x * weight, weight


def with_weight(x):
    return x, nn.Parameter(torch.ones(x.shape[-1]))


@fix("move", "exact", before=with_weight)
def fixed(x, weight):
    """Parameters belong in __init__: the graph takes them as inputs, and an optimizer finds
    them.
    """
    return x * weight, weight


@fix("setting", "equal", graph_break_on_nn_param_ctor=False)
def fixed_by_tracing_it(x):
    """Dynamo then makes an empty parameter before the graph runs and fills it in the graph."""
    weight = nn.Parameter(torch.ones(x.shape[-1]))
    return x * weight, weight
