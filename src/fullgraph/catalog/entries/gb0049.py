"""An operator is called through `torch.ops` with arguments that fit none of its overloads: one is
missing, in the wrong place or of the wrong type.
"""

import torch

from fullgraph.catalog.kit import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.ops.aten.sum(x, "dim") + 1


@fix("rewrite", "exact")
def fixed(x):
    """The arguments fit the overload that takes dimensions."""
    return torch.ops.aten.sum(x, [-1]) + 1
