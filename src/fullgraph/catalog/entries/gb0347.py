"""An `autograd.Function` with a non-differentiable output sets the private flag
`ctx._materialize_non_diff_grads`, to get None instead of zeros for its gradient.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Best(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.max(dim=-1)
        ctx._materialize_non_diff_grads = False
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(x, indices)
        return values, indices

    @staticmethod
    def backward(ctx, grad, _):
        x, indices = ctx.saved_tensors
        return torch.zeros_like(x).scatter(-1, indices[:, None], grad[:, None])


class BestWithoutFlag(Best):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.max(dim=-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(x, indices)
        return values, indices


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return Best.apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """The flag only avoids making zeros that backward ignores. The compiler removes unused
    zeros.
    """
    return BestWithoutFlag.apply(x)
