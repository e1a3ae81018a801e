"""A boolean mask selects elements, `x[x > 0]`, or `nonzero()` finds them. The shape of the result
is data-dependent.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch captures such operators without a setting.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    positive = x[x > 0]
    return positive.sum() / positive.numel()


@fix("rewrite", "equal")
def fixed(x):
    """Elements outside the mask add zero to the sum, and the mask counts the elements inside it. No
    shape is data-dependent.
    """
    mask = x > 0
    return torch.where(mask, x, 0.0).sum() / mask.sum()


@fix("setting", "exact", capture_dynamic_output_shape_ops=True)
def fixed_by_capturing(x):
    """The data-dependent size becomes an unbacked symbol in the graph."""
    positive = x[x > 0]
    return positive.sum() / positive.numel()
