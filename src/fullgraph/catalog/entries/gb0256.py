"""A dict whose entries are attributes, in the well-known short form:
`class Config(dict): __getattr__ = dict.__getitem__`.
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
    """Written with def, __getattr__ is a function of Python that Dynamo can follow."""
    return x * config.scale


@fix("rewrite", "exact")
def fixed_with_key(x, config):
    """It is a dict: the ordinary way in works."""
    return x * config["scale"]
