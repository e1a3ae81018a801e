"""A module that was marked as fixed, `torchdynamo_force_dynamic = False`, keeps a list, a dict or
another object as an attribute of its class and reads it through `self`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Scale(torch.nn.Module):
    torchdynamo_force_dynamic = False

    factors = [2.0, 3.0]

    def forward(self, x):
        return x * self.factors[0]


class ScaleByInstance(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.factors = [2.0, 3.0]

    def forward(self, x):
        return x * self.factors[0]


class ScaleUnmarked(torch.nn.Module):
    factors = [2.0, 3.0]

    def forward(self, x):
        return x * self.factors[0]


SCALE = Scale()
SCALE_BY_INSTANCE = ScaleByInstance()
SCALE_UNMARKED = ScaleUnmarked()


def inputs():
    return torch.randn(2, 8)


def breaks(x):
    return SCALE(x)


@fix("rewrite", "exact")
def fixed(x):
    """Set in __init__, the list belongs to the object, which may hold any value."""
    return SCALE_BY_INSTANCE(x)


@fix("rewrite", "exact")
def fixed_without_the_mark(x):
    """An ordinary module is traced like any other object, attributes of its class included."""
    return SCALE_UNMARKED(x)
