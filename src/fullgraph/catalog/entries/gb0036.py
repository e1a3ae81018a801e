"""A boolean mask selects elements, `x[x > 0]`, or `nonzero()` finds them: how many there will be,
and so the shape of the result, depends on the values.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch captures such operators by itself.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    positive = x[x > 0]
    return positive.sum() / positive.numel()


@fix("rewrite", "equal")
def fixed(x):
    """What the mask leaves out adds zero to the sum, and the mask counts what is in; the shape
    stays as it is.
    """
    mask = x > 0
    return torch.where(mask, x, 0.0).sum() / mask.sum()


@fix("setting", "exact", capture_dynamic_output_shape_ops=True)
def fixed_by_capturing(x):
    """The unknown size becomes a symbol in the graph."""
    positive = x[x > 0]
    return positive.sum() / positive.numel()
