"""A closure checks the type of a variable that its enclosing function never assigned, because only
one branch sets it. Eager mode raises a NameError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def make_step(warmup):
    def step(x):
        return x * scale if isinstance(scale, float) else x

    if warmup:
        scale = 0.5
    return step


def make_complete_step(warmup):
    def step(x):
        return x * scale if isinstance(scale, float) else x

    scale = 0.5 if warmup else None
    return step


step = make_step(warmup=False)
complete_step = make_complete_step(warmup=False)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return step(x)


@fix("rewrite", "exact")
def fixed(x):
    """The enclosing function assigns the variable in every case; None is allowed."""
    return complete_step(x)
