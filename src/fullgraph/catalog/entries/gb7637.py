"""The `__dict__` of an object is replaced by a dictionary with numbers as keys, to use the object
as a table: `cache.__dict__ = dict(enumerate(rows))`. Dynamo expects names there.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Cache:
    pass


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    cache = Cache()
    cache.__dict__ = dict(enumerate(x))
    cache.total = x.sum(dim=0)
    return cache.__dict__[0] + cache.total


@fix("rewrite", "exact")
def fixed(x):
    """The table is a separate dictionary, which may have any keys."""
    cache = Cache()
    cache.rows = dict(enumerate(x))
    cache.total = x.sum(dim=0)
    return cache.rows[0] + cache.total
