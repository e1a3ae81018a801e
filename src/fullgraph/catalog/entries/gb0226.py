"""`nn.Parameter` gets a list or an array of numbers, but accepts only tensors."""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 2)


def breaks(x):
    mix = nn.Parameter([0.5, 0.5])
    return x @ mix


def with_parameter(x):
    return x, nn.Parameter(torch.tensor([0.5, 0.5]))


@fix("move", "exact", before=with_parameter)
def fixed(x, mix):
    """The parameter is made from a tensor, once: in __init__, not in each call."""
    return x @ mix
