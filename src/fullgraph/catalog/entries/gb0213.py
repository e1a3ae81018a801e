"""The parentheses of a call are missing, so the expression contains a function instead of its
result: `x / torch.std`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return (x - torch.mean(x)) / torch.std


@fix("rewrite", "exact")
def fixed(x):
    """The call returns the intended tensor."""
    return (x - torch.mean(x)) / torch.std(x)
