"""A class that guards its attributes hands deletion on to `super().__delattr__`, and is given
something else than a name.
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
    """Attributes are deleted by their names, which are constants."""
    cache = Cache()
    cache.hidden = x.relu()
    result = cache.hidden.sum(dim=-1)
    cache.drop("hidden")
    return result
