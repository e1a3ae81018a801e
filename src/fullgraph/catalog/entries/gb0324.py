"""A scan runs over an empty sequence, such as the tail of a complete batch. The operator requires
at least one step, from which it gets the shape of the result.
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
    tail = x[4:]
    _, out = torch.ops.higher_order.scan(step_graph, [torch.zeros(8)], [tail], ())
    return torch.cat([x[:4], out])


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def unless_empty(x):
    tail = x[4:]
    if tail.shape[0] == 0:
        return x.clone()
    _, out = scan(step, torch.zeros(8), tail)
    return torch.cat([x[:4], out])


@fix("rewrite", "exact")
def fixed(x):
    """The length is known during tracing, so an ordinary `if` handles the empty case."""
    return torch.cond(x.norm() > 1.0, unless_empty, copy, (x,))
