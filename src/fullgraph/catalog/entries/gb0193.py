"""A Python builtin is called with the arguments of the tensor method of the same name: `max(x,
dim=0)` instead of `x.amax(dim=0)`. Eager mode raises as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x / max(x, dim=0)


@fix("rewrite", "exact")
def fixed(x):
    """The method takes a dimension. The builtin compares the elements of an iterable."""
    return x / x.amax(dim=0)
