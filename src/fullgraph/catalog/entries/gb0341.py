"""The operator behind `associative_scan` is called directly with a `functools.partial` as its
combine function. Dynamo assumes that a partial comes from the public function.
"""

import functools

import torch
from torch._higher_order_ops.associative_scan import associative_scan

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def combine(a, b, floor):
    return (torch.maximum(a, b).clamp(min=floor),)


def by_hand(x):
    combine_above_zero = functools.partial(combine, floor=0.0)
    (out,) = torch.ops.higher_order.associative_scan(combine_above_zero, (x,), ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_function(x):
    combine_above_zero = functools.partial(combine, floor=0.0)
    (out,) = associative_scan(
        lambda a, b: combine_above_zero(a[0], b[0]), (x,), dim=0, combine_mode="generic"
    )
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The public function wraps any callable in the form that the operator expects."""
    return torch.cond(x.norm() > 1.0, by_function, copy, (x,))
