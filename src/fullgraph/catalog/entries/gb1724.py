"""`torch.autograd.grad` takes a dict and returns one. Here the parameters themselves are the keys,
to look up gradients by parameter (with `trace_autograd_ops`).
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    return torch.randn(4, 8), torch.randn(8, requires_grad=True), torch.zeros(1, requires_grad=True)


def breaks(x, weight, bias):
    loss = (x @ weight + bias).square().mean()
    grads = torch.autograd.grad(loss, {weight: weight, bias: bias})
    return weight - 0.1 * grads[weight], bias - 0.1 * grads[bias]


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(x, weight, bias):
    """The keys are names, which are constants and serve the same lookup."""
    loss = (x @ weight + bias).square().mean()
    grads = torch.autograd.grad(loss, {"weight": weight, "bias": bias})
    return weight - 0.1 * grads["weight"], bias - 0.1 * grads["bias"]
