"""A message with the value of a tensor is put together with `+`: `f"mean {mean}" + "\\n"`. The text
is not known before the graph has run, and Dynamo does not append to such a text.
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
    """One f-string for the whole text is kept as it is and filled in after the graph."""
    mean = x.mean()
    return x - mean, f"mean {mean} before centering"


def describe(result):
    centered, mean = result
    return centered, f"mean {mean}" + " before centering"


@fix("move", "exact", after=describe)
def fixed_by_returning_the_mean(x):
    """The compiled function returns the tensor, and the caller makes a text of it."""
    mean = x.mean()
    return x - mean, mean
