"""A method of Python's `int` is called on a size, to test for a power of two or to count bits:
`x.shape[0].bit_count()`. With dynamic shapes the size is a symbol, which does not have every
method.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    rows = x.shape[0]
    if rows.bit_count() == 1:
        return x * 2
    return x


@fix("rewrite", "exact")
def fixed(x):
    """Arithmetic on the size is the same test, and symbols support arithmetic."""
    rows = x.shape[0]
    if rows > 0 and rows & (rows - 1) == 0:
        return x * 2
    return x
