"""The operator that passes hints on to the backend is called without any: `hints_wrapper(f, (x,),
{})`. The hints have no default.
"""

import torch
from torch._higher_order_ops.hints_wrap import hints_wrapper

from fullgraph.catalog.fix_decorator import fix

# In eager, torch.cond compiles its branches as well, and so meets the same error.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def by_hand(x):
    return hints_wrapper(torch.sin, (x,), {})


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def with_hints(x):
    return hints_wrapper(torch.sin, (x,), {}, hints={"outer_loop": True})


@fix("rewrite", "exact")
def fixed(x):
    """With the keyword `hints`, the call is what the operator expects."""
    return torch.cond(x.norm() > 1.0, with_hints, copy, (x,))
