"""The parentheses of a call are missing, and a function itself ends up in the arithmetic:
`x / torch.std`.
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
    """Called, the function gives the tensor that was meant."""
    return (x - torch.mean(x)) / torch.std(x)
