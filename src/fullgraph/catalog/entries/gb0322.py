"""A scan without a carry: the operator is called by hand with an empty list to start from, as if it
were a map.
"""

import torch
from torch._higher_order_ops import map as map_rows

from fullgraph.catalog.fix_decorator import fix

# In eager, torch.cond compiles its branches as well, and so meets the same error.
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
    """Steps that carry nothing from one to the next are a map."""
    return torch.cond(x.norm() > 1.0, by_map, copy, (x,))
