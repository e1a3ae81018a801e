"""A function is built by another and asks for the type of a variable of its builder that was never
given a value, as only one branch sets it. Eager raises a NameError.
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
    """The builder gives the variable a value in every case, be it None."""
    return complete_step(x)
