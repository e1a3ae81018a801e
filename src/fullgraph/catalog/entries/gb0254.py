"""`setattr(stats, name, value)` where the name has come to be a tensor, an index out of `argmax`
for example. Eager raises as well.
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
    """The attribute has a fixed name, and what varies is in its value."""
    stats.best = x.mean(dim=0).argmax()
    stats.max = x.max()
    return x * 2
