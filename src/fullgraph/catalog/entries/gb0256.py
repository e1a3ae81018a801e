"""A dict makes its entries available as attributes, in the common short form: `class Config(dict):
__getattr__ = dict.__getitem__`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Config(dict):
    __getattr__ = dict.__getitem__


class ConfigByFunction(dict):
    def __getattr__(self, name):
        return self[name]


def inputs():
    return torch.randn(4, 8), Config(scale=0.5)


def breaks(x, config):
    return x * config.scale


def with_function(x, config):
    return x, ConfigByFunction(config)


@fix("rewrite", "exact", before=with_function)
def fixed(x, config):
    """A `__getattr__` written with `def` is a Python function that Dynamo can trace into."""
    return x * config.scale


@fix("rewrite", "exact")
def fixed_with_key(x, config):
    """The object is a dict, so ordinary indexing works."""
    return x * config["scale"]
