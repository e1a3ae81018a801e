"""An attack or a probe runs inside a compiled function (with `trace_autograd_ops`). The function
makes a perturbation, and `backward(inputs=[perturbation])` computes only its gradient.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    return torch.randn(4, 8), torch.randn(8)


def breaks(x, weight):
    noise = torch.zeros_like(x).requires_grad_()
    loss = ((x + noise) @ weight).square().mean()
    loss.backward(inputs=[noise])
    return x + 0.1 * noise.grad.sign()


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(x, weight):
    """torch.autograd.grad returns the gradient and accepts tensors made in the graph."""
    noise = torch.zeros_like(x).requires_grad_()
    loss = ((x + noise) @ weight).square().mean()
    (grad,) = torch.autograd.grad(loss, noise)
    return x + 0.1 * grad.sign()


@fix("rewrite", "equal")
def fixed_with_func(x, weight):
    """torch.func.grad needs neither the perturbation nor a setting."""

    def loss(x):
        return (x @ weight).square().mean()

    return x + 0.1 * torch.func.grad(loss)(x).sign()
