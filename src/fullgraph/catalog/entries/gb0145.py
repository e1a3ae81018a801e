"""An `autograd.Function` names its derivative `vjp`, which torch accepts in place of `backward`."""

import torch

from fullgraph.catalog.fix_decorator import fix


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def vjp(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class ExpWithBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return Exp.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """Both names mean the same to autograd, but Dynamo looks only for backward."""
    return ExpWithBackward.apply(x)
