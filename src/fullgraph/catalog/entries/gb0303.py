"""The operator under `while_loop` is called by hand inside a branch, with a keyword argument, as
captured graphs do for a loop that changes a tensor in place. Dynamo takes no keywords there.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager, torch.cond compiles its branches as well, and so meets the same error.
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
    """The function while_loop calls the operator the way Dynamo expects, and finds out itself which
    tensors are changed in place."""
    return torch.cond(x.norm() > 1.0, by_while_loop, copy, (x,))
