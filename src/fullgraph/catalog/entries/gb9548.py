"""The key of a cache is the absolute value of a hash, `abs(hash((x, y)))`. The hash of an object
made during tracing is a placeholder that does not support arithmetic.
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
    """The pair is the key, and the dictionary hashes it. Different pairs cannot collide."""
    y = x.relu()
    cache = {}
    cache[(x, y)] = x + y
    return sum(cache.values())
