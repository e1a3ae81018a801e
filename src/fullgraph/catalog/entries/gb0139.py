"""An `autograd.Function` keeps something on `ctx` for the length of `forward` and takes it off
again with `del`, so that it does not live until the backward pass.
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
    """A local variable is gone at the end of forward by itself; ctx is for what backward needs."""
    return CenterWithLocal.apply(x)
