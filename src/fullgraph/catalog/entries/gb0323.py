"""The operator behind `scan` is called directly, and the tensor that every step uses is not in a
tuple.
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


def step(carry, row, scale):
    carry = carry * scale + row
    return [carry, carry * 2.0]


step_graph = torch.fx.symbolic_trace(step)


def by_hand(x):
    scale = torch.full((1,), 0.5)
    _, out = torch.ops.higher_order.scan(step_graph, [torch.zeros(8)], [x], scale)
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_scan(x):
    scale = torch.full((1,), 0.5)
    _, out = scan(lambda carry, row: step(carry, row, scale), torch.zeros(8), x)
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The step closes over the tensor, and scan passes it to the operator."""
    return torch.cond(x.norm() > 1.0, by_scan, copy, (x,))
