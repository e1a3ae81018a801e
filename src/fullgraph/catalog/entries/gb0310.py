"""The condition of a `torch.cond`, here in the body of a loop, is computed with NumPy. It is a
NumPy boolean, neither a bool nor a tensor.
"""

import numpy as np
import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, while_loop compiles its functions too, so the same error occurs.
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
    """The values are converted to a tensor, so the comparison is a tensor too. The operator can
    read such a predicate at run time.
    """

    def step(i, x):
        return i + 1, torch.cond(torch.tensor(losses).max() > 1.0, shrink, grow, (x,))

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))
