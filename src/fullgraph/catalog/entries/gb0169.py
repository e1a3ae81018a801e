"""A custom autograd function is defined inside another function, and its `forward` counts its calls
with `nonlocal`. A separate `setup_context` saves the tensors for the backward.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def _counting_square():
    calls = 0

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            nonlocal calls
            calls += 1
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    return Square


def inputs():
    return torch.randn(4, 8, requires_grad=True)


SQUARE = _counting_square()


def breaks(x):
    return SQUARE.apply(x).sum()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


CALLS = [0]


def count(x):
    CALLS[0] += 1
    return x


@fix("move", "exact", before=count)
def fixed(x):
    """The function only computes, and its caller counts the calls."""
    return Square.apply(x).sum()
