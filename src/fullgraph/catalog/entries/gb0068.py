"""The backward of a custom autograd function checks how its gradient is stored, through the class:
`torch.Tensor.is_conj(grad)` is true while a conjugation is pending.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if torch.Tensor.is_conj(grad):
            grad = grad.resolve_conj()
        return grad * 2


class ScaleResolved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.resolve_conj() * 2


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return Scale.apply(x).sum()


@fix("rewrite", "exact")
def fixed(x):
    """resolve_conj returns the tensor itself if no conjugation is pending, so no check is
    needed.
    """
    return ScaleResolved.apply(x).sum()
