"""A branch directly calls the operator behind `while_loop` with a keyword argument, as captured
graphs do for a loop with in-place mutation. Dynamo accepts no keywords there.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def is_large(x):
    return x.norm() > 1.0


def halve(x):
    return (x * 0.5,)


def by_hand(x):
    (x,) = torch.ops.higher_order.while_loop(is_large, halve, (x,), (), mutated_arg_indices="")
    return x


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_while_loop(x):
    (x,) = while_loop(is_large, halve, (x,))
    return x


@fix("rewrite", "exact")
def fixed(x):
    """The function while_loop calls the operator in the form that Dynamo expects. It determines
    which tensors are mutated.
    """
    return torch.cond(x.norm() > 1.0, by_while_loop, copy, (x,))
