"""Defaults in a plain dictionary are merged with the outputs in a class of one's own, an
`OrderedDict`: `defaults | outputs`. The result is of that class, and Dynamo, which
came by it on the way, has no name for it in the code that builds the result.
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
    """The class is named, and the two are put into a new object of it one after the other."""
    defaults = {"scores": x.softmax(dim=-1)}
    merged = Outputs(defaults)
    merged.update(outputs)
    return merged
