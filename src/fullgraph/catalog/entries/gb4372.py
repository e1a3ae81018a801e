"""The `forward` of an `autograd.Function` has a keyword-only argument. `apply` takes only
positional arguments, so eager mode raises as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale


class ScaleGradientByPosition(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale, None


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return ScaleGradient.apply(x, scale=0.1)


@fix("rewrite", "exact")
def fixed(x):
    """All arguments of forward are positional, and backward returns one value per argument."""
    return ScaleGradientByPosition.apply(x, 0.1)
