"""A variable is set only in one branch or in the body of a loop, and that code does not run for
this input. Python raises an UnboundLocalError at the same line.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if x.shape[0] > 16:
        scale = x.shape[0] ** -0.5
    return x * scale


@fix("rewrite", "exact")
def fixed(x):
    """The variable has a value on every path."""
    scale = 1.0
    if x.shape[0] > 16:
        scale = x.shape[0] ** -0.5
    return x * scale
