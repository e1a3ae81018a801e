"""The operator behind `associative_scan` gets a tuple of one tensor, but the function that combines
two elements returns a bare tensor.
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


def by_hand(x):
    (out,) = torch.ops.higher_order.associative_scan(torch.add, (x,), ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_function(x):
    return associative_scan(torch.add, x, dim=0, combine_mode="generic")


@fix("rewrite", "exact")
def fixed(x):
    """Elements and results have the same structure: the function takes tensors and returns a
    tensor.
    """
    return torch.cond(x.norm() > 1.0, by_function, copy, (x,))
