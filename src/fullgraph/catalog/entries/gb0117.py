"""A method of a tensor is called with arguments that it does not take: `x.dim(1)` where the size of
that dimension was meant.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x / x.dim(1) ** 0.5


@fix("rewrite", "exact")
def fixed(x):
    """size takes a dimension; dim() only says how many there are."""
    return x / x.size(1) ** 0.5
