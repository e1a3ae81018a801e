"""An in-place `autograd.Function` marks its input as dirty and returns the result of the in-place
operation. In eager mode that is the input itself, but Dynamo treats it as another tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class ClampInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.clamp_(-1, 1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class ClampAndReturn(ClampInPlace):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(-1, 1)
        return x


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    hidden = x * 2
    return ClampInPlace.apply(hidden)


@fix("rewrite", "exact")
def fixed(x):
    """The forward returns the marked input by its own name."""
    hidden = x * 2
    return ClampAndReturn.apply(hidden)
