"""A layer checks whether its input was made in inference mode, to clone it before saving or
mutating it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if x.is_inference():
        x = x.clone()
    return x.mul(2).relu()


def ask(x):
    return x, x.is_inference()


@fix("move", "exact", before=ask)
def fixed(x, is_inference):
    """The caller checks in eager mode and passes a bool."""
    if is_inference:
        x = x.clone()
    return x.mul(2).relu()


@fix("rewrite", "exact")
def fixed_without_asking(x):
    """The clone only protects against in-place mutation, and this layer has none."""
    return x.mul(2).relu()
