"""A branch of a `torch.cond` returns a counter with its tensor, computed from the counter of the
enclosing loop. That number is a symbol, which the operator cannot return.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, while_loop compiles its functions too, so the same error occurs.
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
    """As a 0-d tensor, the counter is an ordinary result of the branches."""

    def step(i, x):
        return torch.cond(
            x.norm() > 1.0,
            lambda x: (i + 1, x * 0.5),
            lambda x: (i + 2, x * 2.0),
            (x,),
        )

    return while_loop(lambda i, x: i < 3, step, (torch.tensor(0), x))
