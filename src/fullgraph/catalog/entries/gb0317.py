"""The operator behind `associative_scan` is called directly with an empty sequence, such as the
tail of a complete batch. It gets the shape of its result from the first step.
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
    tail = x[4:]
    (out,) = torch.ops.higher_order.associative_scan(lambda a, b: (a + b,), (tail,), ())
    return torch.cat([x[:4], out])


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def unless_empty(x):
    tail = x[4:]
    if tail.shape[0] == 0:
        return x.clone()
    out = associative_scan(torch.add, tail, dim=0, combine_mode="generic")
    return torch.cat([x[:4], out])


@fix("rewrite", "exact")
def fixed(x):
    """The length is known during tracing, so an ordinary `if` handles the empty case."""
    return torch.cond(x.norm() > 1.0, unless_empty, copy, (x,))
