"""The operator behind `scan` is called directly, and its initial carry is one tensor instead of a
list of tensors.
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
    return [carry, carry * 2.0]


step_graph = torch.fx.symbolic_trace(step)


def by_hand(x):
    _, out = torch.ops.higher_order.scan(step_graph, torch.zeros(1, 8), [x], ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_scan(x):
    _, out = scan(step, torch.zeros(8), x)
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The function scan takes a tensor or any nesting of tensors and makes the lists itself."""
    return torch.cond(x.norm() > 1.0, by_scan, copy, (x,))
