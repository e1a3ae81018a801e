"""A model that makes a parameter in its `forward` is exported."""

import torch
from torch import nn

# Exporting calls Dynamo itself, and is not something to compile.
COMPILE = {"disable": True}
EAGER_RAISES = True
INSTEAD = (
    "Make the parameter in __init__, where an exported program looks for its state; or use a plain "
    "tensor, torch.ones(8), where the value is not trained."
)


class Scale(nn.Module):
    def forward(self, x):
        weight = nn.Parameter(torch.ones(8))
        return x * weight


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    exported = torch._dynamo.export(Scale())(x)
    return exported.graph_module(x)
