"""A message with the value of a tensor is concatenated with `+`: `f"mean {mean}" + "\\n"`. The
string is not known before the graph has run, and Dynamo cannot append to such a string.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    mean = x.mean()
    return x - mean, f"mean {mean}" + " before centering"


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo keeps a single f-string and formats it after the graph has run."""
    mean = x.mean()
    return x - mean, f"mean {mean} before centering"


def describe(result):
    centered, mean = result
    return centered, f"mean {mean}" + " before centering"


@fix("move", "exact", after=describe)
def fixed_by_returning_the_mean(x):
    """The compiled function returns the tensor, and the caller formats the string."""
    mean = x.mean()
    return x - mean, mean
