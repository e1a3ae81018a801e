"""A branch of a `torch.cond` mutates its operand in place, `x.clamp_(...)`. While autograd records,
the branches of a control flow operator may only read their operands.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def clamp_in_place(x):
    x.clamp_(-1.0, 1.0)
    return x * 2


def double(x):
    return x * 2


def breaks(x):
    return torch.cond(x.abs().max() > 1.0, clamp_in_place, double, (x,))


def clamp(x):
    return x.clamp(-1.0, 1.0) * 2


@fix("rewrite", "narrower")
def fixed(x):
    """The out-of-place operation does not change the operand. If later code needs the clamped
    values, return them from both branches.
    """
    return torch.cond(x.abs().max() > 1.0, clamp, double, (x,))
