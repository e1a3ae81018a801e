"""The operator `wrap_with_autocast`, which export puts around autocast regions, is called with a
switch that was computed from a tensor.
"""

import torch
from torch._higher_order_ops.wrap import wrap_with_autocast

from fullgraph.catalog.kit import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def gram(x):
    return x @ x.T


def breaks(x):
    small = x.abs().max() < 100
    return wrap_with_autocast("cpu", torch.bfloat16, small, True, gram, x)


@fix("rewrite", "narrower")
def fixed(x):
    """Autocast is switched on by a constant; what depends on values is decided elsewhere."""
    return wrap_with_autocast("cpu", torch.bfloat16, True, True, gram, x)
