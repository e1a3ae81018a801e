"""A refinement step stops early when the new estimate is close to the old one: `if
torch.allclose(new, old):`. The result is a Python bool that depends on tensor data.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.rand(4, 8)


def breaks(x):
    refined = (x + x.mean()) / 2
    if torch.allclose(refined, x):
        return x
    return refined


@fix("rewrite", "exact")
def fixed(x):
    """torch.isclose(...).all() is the same test as a tensor, and torch.where selects with it."""
    refined = (x + x.mean()) / 2
    return torch.where(torch.isclose(refined, x).all(), x, refined)
