"""An exported model makes a parameter in its `forward`."""

import torch
from torch import nn

# Export calls Dynamo itself, so the example must not be compiled.
COMPILE = {"disable": True}
EAGER_RAISES = True
INSTEAD = (
    "Make the parameter in __init__, where an exported program looks for its state. If the value "
    "is not trained, use a plain tensor, torch.ones(8)."
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
