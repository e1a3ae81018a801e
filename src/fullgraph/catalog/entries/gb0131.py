"""A `__setitem__` that was written for a class is called through the class on something else, such
as a plain dict.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Lowercase(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key.lower(), value)


def set_lowercase(mapping, key, value):
    mapping[key.lower()] = value


def inputs():
    return {}, torch.randn(4, 8)


def breaks(outputs, x):
    Lowercase.__setitem__(outputs, "Hidden", x.relu())
    return outputs


@fix("rewrite", "exact")
def fixed(outputs, x):
    """A plain function with a name of its own does the same for any mapping."""
    set_lowercase(outputs, "Hidden", x.relu())
    return outputs
