"""Code that was written against torch's symbolic shapes calls `guard_scalar` with a tensor where a
size was meant.
"""

import torch
from torch.fx.experimental.symbolic_shapes import guard_scalar

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x / guard_scalar(x.sum())


@fix("rewrite", "exact")
def fixed(x):
    """A value of a tensor needs no guard: as a tensor it stays in the graph."""
    return x / x.sum()
