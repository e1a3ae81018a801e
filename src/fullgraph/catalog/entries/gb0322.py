"""The operator behind `scan` is called directly with an empty list as the initial carry, as if it
were a map.
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


double_graph = torch.fx.symbolic_trace(lambda row: [row * 2.0])


def by_hand(x):
    (out,) = torch.ops.higher_order.scan(double_graph, [], [x], ())
    return out


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_map(x):
    return map_rows(lambda row: row * 2.0, x)


@fix("rewrite", "exact")
def fixed(x):
    """Steps without a carry are a map."""
    return torch.cond(x.norm() > 1.0, by_map, copy, (x,))
