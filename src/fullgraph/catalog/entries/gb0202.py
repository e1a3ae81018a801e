"""A module is declared static with `torchdynamo_force_dynamic = False`. One of its methods gets a
value known only at run time: a flag in a tensor.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


class Layer(nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)


LAYER = Layer()


def inputs():
    return torch.randn(4, 8), torch.tensor(True)


def breaks(x, deep):
    penalty = sum(p.square().sum() for p in LAYER.parameters(recurse=deep))
    return x * penalty


def with_bool(x, deep):
    return x, bool(deep)


@fix("move", "exact", before=with_bool)
def fixed(x, deep):
    """The caller passes the flag as a bool, which is a constant. The set of parameters is then
    known during tracing.
    """
    penalty = sum(p.square().sum() for p in LAYER.parameters(recurse=deep))
    return x * penalty
