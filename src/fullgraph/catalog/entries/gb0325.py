"""The operator behind `map` is called directly with a keyword argument for the mapped function."""

import torch
from torch._higher_order_ops import map as map_rows

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def scale_row(row, scale=1.0):
    return (row * scale,)


def by_hand(x):
    (out,) = torch.ops.higher_order.map_impl(scale_row, [x], [], scale=2.0)
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_map(x):
    (out,) = map_rows(lambda row: scale_row(row, scale=2.0), x)
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The mapped function gets its options from a closure, and the operator gets only tensors."""
    return torch.cond(x.norm() > 1.0, by_map, copy, (x,))
