"""The only operand of a `torch.cond` in the body of a loop is passed directly, `torch.cond(pred, f,
g, x)`, instead of in a tuple.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, while_loop compiles its functions too, so the same error occurs.
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
    """The operands are a tuple, even if there is only one."""

    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))
