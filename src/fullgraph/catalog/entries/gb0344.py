"""The operator `wrap_with_autocast`, which export puts around autocast regions, is called with a
switch that was computed from a tensor.
"""

import torch
from torch._higher_order_ops.wrap import wrap_with_autocast

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def gram(x):
    return x @ x.T


def breaks(x):
    small = x.abs().max() < 100
    return wrap_with_autocast("cpu", torch.bfloat16, small, True, gram, x)


def with_switch(x):
    return x, bool(x.abs().max() < 100)


@fix("move", "exact", before=with_switch)
def fixed(x, small):
    """Decided before the call, the switch is a bool: a constant of the graph, of which there is one
    for each value. The context manager does what the operator does.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=small):
        return gram(x)
