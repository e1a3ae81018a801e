"""A branch of a `torch.cond` returns a counter next to its tensor, computed from the counter that
the loop around it carries. That number is a symbol, which the operator does not pass on.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# while_loop compiles its functions in eager as well, and so meets the same error.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def step(i, x):
        return torch.cond(
            x.norm() > 1.0,
            lambda x: (i + 1, x * 0.5),
            lambda x: (i + 2, x * 2.0),
            (x,),
        )

    return while_loop(lambda i, x: i < 3, step, (0, x))


@fix("rewrite", "exact")
def fixed(x):
    """As a tensor without dimensions the counter is an ordinary result of the branches."""

    def step(i, x):
        return torch.cond(
            x.norm() > 1.0,
            lambda x: (i + 1, x * 0.5),
            lambda x: (i + 2, x * 2.0),
            (x,),
        )

    return while_loop(lambda i, x: i < 3, step, (torch.tensor(0), x))
