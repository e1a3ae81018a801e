"""A module declared static with `torchdynamo_force_dynamic = False` stores a list, a dict or
another object as a class attribute and reads it through `self`.
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
    """`__init__` sets the list, so it is an instance attribute, which may have any value."""
    return SCALE_BY_INSTANCE(x)


@fix("rewrite", "exact")
def fixed_without_the_mark(x):
    """Without the declaration Dynamo traces into the module, including its class attributes."""
    return SCALE_UNMARKED(x)
