"""`dict.fromkeys` gets keys that are not hashable, such as lists."""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    totals = dict.fromkeys([[0, 1], [2, 3]], 0.0)
    return {key: x[list(key)].sum() + start for key, start in totals.items()}


@fix("rewrite", "exact")
def fixed(x):
    """A tuple is immutable and hashable, so it can be a key."""
    totals = dict.fromkeys([(0, 1), (2, 3)], 0.0)
    return {key: x[list(key)].sum() + start for key, start in totals.items()}
