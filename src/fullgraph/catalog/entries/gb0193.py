"""A builtin of Python is called with the arguments of the tensor's method of that name:
`max(x, dim=0)` for `x.amax(dim=0)`. Eager raises as well.
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
    """The method takes a dimension; the builtin compares the elements of an iterable."""
    return x / x.amax(dim=0)
