"""A compiled function calls `torch.autograd.grad` (with `trace_autograd_ops`). Its input was
computed outside and has an autograd history, such as the features of an encoder.
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
    """The gradient of the head does not need the history of the features, and detach() removes
    it.
    """
    loss = (features.detach() @ head).square().mean()
    (grad,) = torch.autograd.grad(loss, head)
    return grad


@fix("rewrite", "equal")
def fixed_with_func(features, head):
    """torch.func.grad differentiates a function with respect to its argument and does not use
    recorded history.
    """

    def loss(head):
        return (features.detach() @ head).square().mean()

    return torch.func.grad(loss)(head.detach())
