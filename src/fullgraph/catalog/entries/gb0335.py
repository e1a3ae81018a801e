"""The operator that passes hints to the backend is called without hints: `hints_wrapper(f, (x,),
{})`. The hints have no default.
"""

import torch
from torch._higher_order_ops.hints_wrap import hints_wrapper

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
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
    """The call passes the keyword `hints`, which the operator requires."""
    return torch.cond(x.norm() > 1.0, with_hints, copy, (x,))
