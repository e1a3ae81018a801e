"""One branch of a `torch.cond` leaves its input alone and returns it as it is. The result of the
operator would then sometimes be a new tensor and sometimes the very tensor that went in.
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
    """Both branches now return a tensor of their own, so nothing that comes out is an alias of
    what went in."""
    return torch.cond(x.norm() > 1.0, clip, keep_a_copy, (x,))


@fix("rewrite", "exact")
def fixed_with_where(x):
    """For work as cheap as this no branch is needed: torch.where picks between the two results."""
    norm = x.norm()
    return torch.where(norm > 1.0, x / norm, x)
