"""The condition of a `while_loop` compares a counter made with `torch.zeros(1)`. The result has
shape (1,), but the loop requires a 0-d tensor.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def step(i, x):
    return i + 1, x * 0.5


def breaks(x):
    return while_loop(lambda i, x: i < 5, step, (torch.zeros(1), x))


@fix("rewrite", "exact")
def fixed(x):
    """The comparison of a 0-d counter returns a 0-d boolean tensor."""
    return while_loop(lambda i, x: i < 5, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed_by_reducing(x):
    """If the compared tensor must keep its shape, use `all` or `any` to reduce the comparison."""
    return while_loop(lambda i, x: (i < 5).all(), step, (torch.zeros(1), x))
