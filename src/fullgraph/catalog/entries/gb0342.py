"""The operator behind `scan` is called directly with an ordinary function as its step. It requires
the step in the form that the public function prepares, or as a graph.
"""

import torch
from torch._higher_order_ops import scan

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def step(carry, row):
    carry = carry * 0.5 + row
    return carry, carry * 2.0


def by_hand(x):
    _, out = torch.ops.higher_order.scan(step, [torch.zeros(8)], [x], ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_scan(x):
    _, out = scan(step, torch.zeros(8), x)
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The function scan accepts any function as its step and prepares it for the operator."""
    return torch.cond(x.norm() > 1.0, by_scan, copy, (x,))
