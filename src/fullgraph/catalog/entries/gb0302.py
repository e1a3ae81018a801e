"""A branch of a `torch.cond`, here in the body of a loop, is called instead of passed:
`torch.cond(pred, shrink(x), grow, ...)`. The operator gets a tensor where it expects a function.
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
        return i + 1, torch.cond(x.norm() > 1.0, shrink(x), grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed(x):
    """The operator gets the functions and the operands and calls one of the functions itself."""

    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))
