"""The function that combines two elements of a scan does not return its result, or returns an empty
tuple.
"""

import torch
from torch._higher_order_ops.associative_scan import associative_scan

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def combine(a, b):
    a + b
    return ()


def by_hand(x):
    (out,) = torch.ops.higher_order.associative_scan(combine, (x,), ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def add(a, b):
    return a + b


def by_function(x):
    return associative_scan(add, x, dim=0, combine_mode="generic")


@fix("rewrite", "exact")
def fixed(x):
    """The function returns the next element: one tensor per scanned tensor."""
    return torch.cond(x.norm() > 1.0, by_function, copy, (x,))
