"""A plain dictionary of defaults is merged with an instance of a custom `OrderedDict` class:
`defaults | outputs`. The result has that class, and Dynamo has no source for the class in the code
that builds the result.
"""

from collections import OrderedDict

import torch

from fullgraph.catalog.fix_decorator import fix


class Outputs(OrderedDict):
    pass


def inputs():
    return torch.randn(4, 8), Outputs(scale=2.0)


def breaks(x, outputs):
    defaults = {"scores": x.softmax(dim=-1)}
    return defaults | outputs


@fix("rewrite", "exact")
def fixed(x, outputs):
    """The code names the class and fills a new object from both dictionaries in turn."""
    defaults = {"scores": x.softmax(dim=-1)}
    merged = Outputs(defaults)
    merged.update(outputs)
    return merged
