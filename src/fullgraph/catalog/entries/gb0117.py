"""A tensor method is called with arguments that it does not accept: `x.dim(1)` where the size of
that dimension is intended.
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
    """size() takes a dimension. dim() only returns the number of dimensions."""
    return x / x.size(1) ** 0.5
