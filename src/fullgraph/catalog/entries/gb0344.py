"""The operator `wrap_with_autocast`, which export puts around autocast regions, is called with a
flag computed from a tensor.
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
    """The caller computes the flag as a bool, which is a constant. Each value has its own graph.
    The context manager does the same as the operator.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=small):
        return gram(x)
