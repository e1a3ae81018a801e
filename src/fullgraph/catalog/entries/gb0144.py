"""An `autograd.Function` defines `jvp` as well as `backward`, to support forward-mode
derivatives.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class ExpBothModes(Exp):
    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * y


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    return ExpBothModes.apply(x)


@fix("rewrite", "narrower")
def fixed(x):
    """Without jvp, Dynamo traces the forward and the backward of the function. The function no
    longer supports forward-mode differentiation, so keep the other class for that.
    """
    return Exp.apply(x)
