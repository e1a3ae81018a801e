"""A `__setitem__` written for one class is called through that class on another object, such as a
plain dict.
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
    """A plain function with its own name does the same for any mapping."""
    set_lowercase(outputs, "Hidden", x.relu())
    return outputs
