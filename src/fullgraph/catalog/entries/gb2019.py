"""An in-place `autograd.Function` with `ctx.mark_dirty` meets an input without gradients, at
inference for example.
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
    """Where no gradient is asked for, the custom backward is of no use: call the operation."""
    if x.requires_grad and torch.is_grad_enabled():
        return ClampInPlace.apply(x)
    return x.clamp_(-1, 1)
