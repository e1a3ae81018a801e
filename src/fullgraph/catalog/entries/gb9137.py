"""The annotation of a nested function uses a value of the enclosing function, `Literal[rows]`.
Python evaluates annotations when it defines the function, and a symbolic size is not a constant.
"""

from typing import Literal

import torch

from fullgraph.catalog.fix_decorator import fix

COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    rows = x.shape[0]

    def mean(y, count: Literal[rows] = rows):
        return y.sum(dim=0) / count

    return mean(x * 2)


@fix("rewrite", "exact")
def fixed(x):
    """The annotation is a type, which is the same for every size."""
    rows = x.shape[0]

    def mean(y, count: int = rows):
        return y.sum(dim=0) / count

    return mean(x * 2)
