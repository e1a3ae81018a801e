"""The operator under `associative_scan` is called by hand and gets an empty sequence, such as the
tail of a batch that happened to be complete. It learns the shape of its result from a first step.
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
    """The length is known while tracing, so an ordinary test sets the empty case apart."""
    return torch.cond(x.norm() > 1.0, unless_empty, copy, (x,))
