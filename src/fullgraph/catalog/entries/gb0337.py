"""A function runs in strict mode, and one of its options is passed to the operator as a keyword
argument.
"""

import torch
from torch._higher_order_ops.strict_mode import strict_mode

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def scale(x, by=1.0):
    return x * by


def by_hand(x):
    return torch.ops.higher_order.strict_mode(scale, (x,), by=2.0)


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def with_closure(x):
    return strict_mode(lambda x: scale(x, by=2.0), (x,))


@fix("rewrite", "exact")
def fixed(x):
    """The operator takes a function and its tensors. A closure holds the option."""
    return torch.cond(x.norm() > 1.0, with_closure, copy, (x,))
