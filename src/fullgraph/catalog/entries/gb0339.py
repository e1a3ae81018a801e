"""A `while_loop` is written like `while True:`, with the decision to stop in the body. The operator
evaluates only its condition, and this condition is always true.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def halve(x):
    return (x * 0.5,)


def breaks(x):
    return while_loop(lambda x: True, halve, (x,))


@fix("rewrite", "exact")
def fixed(x):
    """The condition is computed from the loop variables, so it changes as the loop runs."""
    return while_loop(lambda x: x.norm() > 1.0, halve, (x,))
