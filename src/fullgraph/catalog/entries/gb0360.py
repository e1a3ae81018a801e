"""Code written for torch's symbolic shapes calls `guard_scalar` with a tensor instead of a size."""

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
    """The value of a tensor needs no guard: it stays in the graph as a tensor."""
    return x / x.sum()
