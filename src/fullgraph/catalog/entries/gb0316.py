"""The operator behind `associative_scan` is called directly, and its additional input is a tensor
instead of a tuple of tensors.
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
    scale = torch.full((8,), 0.5)
    (out,) = torch.ops.higher_order.associative_scan(
        lambda a, b, scale: (a * b * scale,), (x,), scale
    )
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_function(x):
    scale = torch.full((8,), 0.5)
    return associative_scan(lambda a, b: a * b * scale, x, dim=0, combine_mode="generic")


@fix("rewrite", "exact")
def fixed(x):
    """The combine function closes over the tensor, so it is not passed explicitly."""
    return torch.cond(x.norm() > 1.0, by_function, copy, (x,))
