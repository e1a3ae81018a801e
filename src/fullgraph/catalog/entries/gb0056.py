"""A tensor that was just computed gets other contents by assigning to `.data`, the way weights are
clamped or overwritten outside of autograd.
"""

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    weight = x.softmax(dim=-1)
    weight.data = weight.data.clamp(min=0.1)
    return weight / weight.sum(dim=-1, keepdim=True)


@fix("rewrite", "exact")
def fixed(x):
    """The name is simply bound to the new tensor; detach keeps the change away from autograd where
    that is wanted."""
    weight = x.softmax(dim=-1)
    weight = weight.clamp(min=0.1)
    return weight / weight.sum(dim=-1, keepdim=True)


@fix("rewrite", "exact")
def fixed_in_place(x):
    """Where others hold the same tensor, copy_ under no_grad changes it for all of them."""
    weight = x.softmax(dim=-1)
    with torch.no_grad():
        weight.copy_(weight.clamp(min=0.1))
    return weight / weight.sum(dim=-1, keepdim=True)
