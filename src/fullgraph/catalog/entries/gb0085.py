"""The `forward` of a custom autograd function is a `functools.partial`, not a plain function."""

from functools import partial

import torch

from fullgraph.catalog.fix_decorator import fix


def _scale(ctx, x, factor):
    return x * factor


class Double(torch.autograd.Function):
    forward = staticmethod(partial(_scale, factor=2))

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class DoubleByFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return _scale(ctx, x, 2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return Double.apply(x).relu()


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo traces into a forward written with `def`, as into any function."""
    return DoubleByFunction.apply(x).relu()
