"""An `autograd.Function` has a helper without `@staticmethod`, called through the class."""

import torch

from fullgraph.catalog.kit import fix


class Swish(torch.autograd.Function):
    def gate(x):
        return torch.sigmoid(x)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(x)
        return grad * gate * (1 + x * (1 - gate))


class SwishWithStaticGate(Swish):
    @staticmethod
    def gate(x):
        return torch.sigmoid(x)


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return x * Swish.gate(x)


@fix("rewrite", "exact")
def fixed(x):
    """As a static method the helper is a plain function, which is what the call makes of it."""
    return x * SwishWithStaticGate.gate(x)
