"""A class that manages its attributes forwards deletion to `super().__delattr__` and gets something
other than a name.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Cache:
    def drop(self, name):
        super().__delattr__(name)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    cache = Cache()
    cache.hidden = x.relu()
    result = cache.hidden.sum(dim=-1)
    cache.drop(cache.hidden)
    return result


@fix("rewrite", "exact")
def fixed(x):
    """The attribute is deleted by its name, which is a constant."""
    cache = Cache()
    cache.hidden = x.relu()
    result = cache.hidden.sum(dim=-1)
    cache.drop("hidden")
    return result
