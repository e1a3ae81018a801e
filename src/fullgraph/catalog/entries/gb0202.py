"""A module is marked `torchdynamo_force_dynamic = False`, to be a fixed part of the graph, and one
of its methods is called with something that is known at run time only: a flag in a tensor.
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
    """As a bool, the flag is a constant: which parameters there are is settled while tracing."""
    penalty = sum(p.square().sum() for p in LAYER.parameters(recurse=deep))
    return x * penalty
