"""A function is called with a missing or an additional argument, often after a change of its
signature. Eager mode raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def normalize(x, eps):
    return x / (x.norm(dim=-1, keepdim=True) + eps)


def breaks(x):
    return normalize(x) * 2


@fix("rewrite", "exact")
def fixed(x):
    """The call matches the signature."""
    return normalize(x, eps=1e-6) * 2
