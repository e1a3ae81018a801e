"""One branch of a `torch.cond` returns its input unchanged. The result would then be either a new
tensor or an alias of the input.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def clip(x):
    return x / x.norm()


def keep(x):
    return x


def breaks(x):
    return torch.cond(x.norm() > 1.0, clip, keep, (x,))


def keep_a_copy(x):
    return x.clone()


@fix("rewrite", "exact")
def fixed(x):
    """Both branches return a new tensor, so no output is an alias of an input."""
    return torch.cond(x.norm() > 1.0, clip, keep_a_copy, (x,))


@fix("rewrite", "exact")
def fixed_with_where(x):
    """Work as cheap as this needs no branch: torch.where selects between the two results."""
    norm = x.norm()
    return torch.where(norm > 1.0, x / norm, x)
