"""The key of a cache is the absolute value of a hash, `abs(hash((x, y)))`. The hash of what was
made while tracing is a stand-in, with which no arithmetic is done.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x.relu()
    cache = {}
    cache[abs(hash((x, y)))] = x + y
    return sum(cache.values())


@fix("rewrite", "exact")
def fixed(x):
    """The dictionary hashes by itself: the pair is the key, and no two pairs can collide."""
    y = x.relu()
    cache = {}
    cache[(x, y)] = x + y
    return sum(cache.values())
