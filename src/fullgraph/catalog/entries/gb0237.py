"""The flag that says whether a parameter is trained comes out of a tensor, a loaded checkpoint for
example, and goes into `nn.Parameter(..., requires_grad=flag)` as it is.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(8), torch.tensor(True)


def breaks(data, trainable):
    weight = nn.Parameter(data, requires_grad=trainable)
    return weight * 2


def with_bool(data, trainable):
    return data, bool(trainable)


@fix("move", "exact", before=with_bool)
def fixed(data, trainable):
    """nn.Parameter takes a bool; read before the call, it is a constant of the graph."""
    weight = nn.Parameter(data, requires_grad=trainable)
    return weight * 2
