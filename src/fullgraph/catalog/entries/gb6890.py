"""A method of an object is used as a key, and the class does not define that method itself.
`config.__repr__` is then a method wrapper of Python, and Dynamo cannot compute its hash.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Config:
    pass


config = Config()


def inputs():
    return torch.randn(4, 8), config.__repr__


def breaks(x, describe):
    uses = {describe: 0}
    uses[describe] += 1
    return x * uses[describe]


def owner_of(x, describe):
    return x, describe.__self__


@fix("rewrite", "exact", before=owner_of)
def fixed(x, config):
    """The object and the name of the method identify the same method, and both can be hashed."""
    uses = {(config, "__repr__"): 0}
    uses[config, "__repr__"] += 1
    return x * uses[config, "__repr__"]
