"""A model that registers a hook on an activation is exported while compiled autograd is enabled."""

import torch
from torch import nn
from torch._dynamo import compiled_autograd

# Export calls Dynamo itself, so the example must not be compiled.
COMPILE = {"disable": True}
EAGER_RAISES = True
INSTEAD = (
    "Export with compiled autograd disabled: an exported program is a forward pass. Hooks on "
    "gradients belong to training, so register them outside forward, on the parameters."
)


class Clipped(nn.Module):
    def forward(self, x):
        hidden = torch.exp(x)
        hidden.register_hook(lambda grad: grad.clamp(-1, 1))
        return hidden.sum()


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    with compiled_autograd._enable(lambda graph: graph):
        exported = torch._dynamo.export(Clipped())(x)
    return exported.graph_module(x)
