"""The operator behind `map` is called directly on a 0-d tensor, or on a tensor without rows. It has
no first row from which to get the shape of the result.
"""

import torch
from torch._higher_order_ops import map as map_rows

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def by_hand(x):
    (out,) = torch.ops.higher_order.map_impl(lambda row: (row * 2.0,), [x.mean()], [])
    return x * out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_map(x):
    out = map_rows(lambda row: row * 2.0, x.mean().reshape(1))
    return x * out


@fix("rewrite", "exact")
def fixed(x):
    """One row is enough for a map, and the mean is reshaped to one row."""
    return torch.cond(x.norm() > 1.0, by_map, copy, (x,))
