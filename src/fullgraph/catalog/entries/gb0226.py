"""A list or an array of numbers is handed to `nn.Parameter`, which takes nothing but tensors."""

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
    """A parameter of a tensor, and made once: in __init__, not at each call."""
    return x @ mix
