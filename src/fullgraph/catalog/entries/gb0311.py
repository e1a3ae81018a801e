"""The only operand of a `torch.cond` in the body of a loop is passed as it is,
`torch.cond(pred, f, g, x)`, and not in a tuple.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# while_loop compiles its functions in eager as well, and so meets the same error.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def shrink(x):
    return x * 0.5


def grow(x):
    return x * 2.0


def breaks(x):
    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, shrink, grow, x)

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed(x):
    """The operands are a tuple, also where there is only one."""

    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))
