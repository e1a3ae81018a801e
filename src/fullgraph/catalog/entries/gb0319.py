"""The operator under `associative_scan` is given a tuple of one tensor, but the function that
combines two elements returns a bare tensor.
"""

import torch
from torch._higher_order_ops.associative_scan import associative_scan

from fullgraph.catalog.fix_decorator import fix

# In eager, torch.cond compiles its branches as well, and so meets the same error.
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
    """Elements and results have the same structure here: tensors go in, and a tensor comes out."""
    return torch.cond(x.norm() > 1.0, by_function, copy, (x,))
