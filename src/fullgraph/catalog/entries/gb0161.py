"""A module that was marked as fixed, `torchdynamo_force_dynamic = False`, keeps a list, a dict or
another object as an attribute of its class and reads it through `self`.
"""

import torch

from fullgraph.catalog.kit import fix


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


SCALE = Scale()
SCALE_BY_INSTANCE = ScaleByInstance()


def inputs():
    return torch.randn(2, 8)


def breaks(x):
    return SCALE(x)


@fix("rewrite", "exact")
def fixed(x):
    """Set in __init__, the list belongs to the object, which may hold any value. Without the mark
    an attribute of the class is fine as well."""
    return SCALE_BY_INSTANCE(x)
