"""A compiled function computes gradients with `torch.autograd.grad` (with `trace_autograd_ops`) and
also returns the loss, for logging. The call has already consumed the autograd history of the loss.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    return torch.randn(4, 8), torch.randn(8, requires_grad=True)


def breaks(x, weight):
    loss = (x @ weight).square().mean()
    (grad,) = torch.autograd.grad(loss, weight)
    return loss, grad


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(x, weight):
    """A loss for logging does not need its history, so it is returned detached."""
    loss = (x @ weight).square().mean()
    (grad,) = torch.autograd.grad(loss, weight)
    return loss.detach(), grad


@fix("rewrite", "equal")
def fixed_with_func(x, weight):
    """torch.func.grad_and_value returns both and needs no setting."""

    def loss(weight):
        return (x @ weight).square().mean()

    grad, value = torch.func.grad_and_value(loss)(weight)
    return value.detach(), grad.detach()
