"""An `autograd.Function` stores a value on `ctx` during `forward` and deletes it with `del`, so
that it does not stay alive until the backward pass.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Center(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mean = x.mean()
        y = x - ctx.mean
        del ctx.mean
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad - grad.mean()


class CenterWithLocal(Center):
    @staticmethod
    def forward(ctx, x):
        mean = x.mean()
        return x - mean


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return Center.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """A local variable is freed at the end of forward. Use ctx only for values that backward
    needs.
    """
    return CenterWithLocal.apply(x)
