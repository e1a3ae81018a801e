"""`setattr(stats, name, value)` gets a tensor as the name, for example an index from `argmax`.
Eager mode raises as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Stats:
    pass


def inputs():
    return torch.randn(4, 8), Stats()


def breaks(x, stats):
    best = x.mean(dim=0).argmax()
    setattr(stats, best, x.max())
    return x * 2


@fix("rewrite", "exact")
def fixed(x, stats):
    """The attribute has a fixed name, and its value varies instead."""
    stats.best = x.mean(dim=0).argmax()
    stats.max = x.max()
    return x * 2
