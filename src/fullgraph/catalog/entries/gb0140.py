"""An `autograd.Function` has a helper without `@staticmethod` and calls it through the class."""

import torch

from fullgraph.catalog.fix_decorator import fix


class Swish(torch.autograd.Function):
    def slope(x):
        gate = torch.sigmoid(x)
        return gate * (1 + x * (1 - gate))

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(Swish.slope(x))
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return grad * slope


class SwishWithStaticSlope(torch.autograd.Function):
    @staticmethod
    def slope(x):
        gate = torch.sigmoid(x)
        return gate * (1 + x * (1 - gate))

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(SwishWithStaticSlope.slope(x))
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return grad * slope


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return Swish.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """As a static method, the helper is explicitly a plain function, which matches the call."""
    return SwishWithStaticSlope.apply(x)
