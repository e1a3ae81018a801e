"""A builtin is called with arguments it does not take, such as `abs(x, dim)` in the belief that
it works like a method of the tensor.
"""

import torch

from fullgraph.catalog.kit import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return abs(x, -1)


@fix("rewrite", "exact")
def fixed(x):
    """abs takes the tensor alone; what is to happen along a dimension follows as a method."""
    return abs(x).sum(dim=-1)
