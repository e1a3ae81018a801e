"""A tensor, for example from a loaded checkpoint, holds the flag for training a parameter. The flag
is passed to `nn.Parameter(..., requires_grad=flag)` without conversion.
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
    """nn.Parameter takes a bool. The caller reads it before the call, so it is a constant of the
    graph.
    """
    weight = nn.Parameter(data, requires_grad=trainable)
    return weight * 2
