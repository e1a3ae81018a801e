"""The condition of a `torch.cond`, here in the body of a loop, was computed with NumPy. It is then
a boolean of NumPy, neither a bool nor a tensor.
"""

import numpy as np
import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# while_loop compiles its functions in eager as well, and so meets the same error.
EAGER_RAISES = True

losses = [0.5, 2.0]


def inputs():
    return torch.randn(4, 8)


def shrink(x):
    return x * 0.5


def grow(x):
    return x * 2.0


def breaks(x):
    def step(i, x):
        return i + 1, torch.cond(np.array(losses).max() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed(x):
    """The values become a tensor first, and so does the comparison: that is a predicate which the
    operator can read when it runs."""

    def step(i, x):
        return i + 1, torch.cond(torch.tensor(losses).max() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))
