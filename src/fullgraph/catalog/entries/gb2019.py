"""An in-place `autograd.Function` with `ctx.mark_dirty` gets an input that does not require
gradients, for example at inference.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class ClampInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(-1, 1)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return ClampInPlace.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """If no gradient is needed, the custom backward is unused, so the code calls the operation
    directly.
    """
    if x.requires_grad and torch.is_grad_enabled():
        return ClampInPlace.apply(x)
    return x.clamp_(-1, 1)
