"""Whether an error carries details is read from its `__dict__`. Dynamo leaves such an attribute
unresolved, and then cannot tell its type when it is measured or walked through.
"""

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    error = ValueError("too few rows")
    if len(error.__dict__) > 0:
        return x
    return x * 2


@fix("rewrite", "narrower")
def fixed(x):
    """The arguments of an error are traced; it holds where details are given as arguments."""
    error = ValueError("too few rows")
    if len(error.args) > 1:
        return x
    return x * 2
