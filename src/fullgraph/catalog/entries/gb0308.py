"""The condition of a `while_loop` compares a counter that was made with `torch.zeros(1)`. It
gives a tensor of shape (1,), while the loop wants one without dimensions.
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
    """A counter without dimensions compares to a boolean without dimensions."""
    return while_loop(lambda i, x: i < 5, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed_by_reducing(x):
    """Where the compared tensor has to keep its shape, `all` or `any` say which question is
    meant."""
    return while_loop(lambda i, x: (i < 5).all(), step, (torch.zeros(1), x))
