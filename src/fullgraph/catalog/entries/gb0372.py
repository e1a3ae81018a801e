"""`torch.autograd.grad` in a compiled function (with `trace_autograd_ops`) whose input was computed
outside and carries its own history: features of an encoder that runs before.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    encoder = torch.randn(8, 8, requires_grad=True)
    return torch.randn(4, 8) @ encoder, torch.randn(8, requires_grad=True)


def breaks(features, head):
    loss = (features @ head).square().mean()
    (grad,) = torch.autograd.grad(loss, head)
    return grad


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(features, head):
    """The gradient of the head does not need the history of the features: detach() cuts it off."""
    loss = (features.detach() @ head).square().mean()
    (grad,) = torch.autograd.grad(loss, head)
    return grad


@fix("rewrite", "equal")
def fixed_with_func(features, head):
    """torch.func.grad differentiates a function by its argument, not by recorded history."""

    def loss(head):
        return (features.detach() @ head).square().mean()

    return torch.func.grad(loss)(head.detach())
