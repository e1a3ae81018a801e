"""`itertools.groupby` gets its sequence by name, `groupby(iterable=tensors, key=width)`. Dynamo
accepts it only as the first positional argument.
"""

from itertools import groupby

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return [torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 8)]


def width(tensor):
    return tensor.shape[1]


def breaks(tensors):
    groups = groupby(iterable=tensors, key=width)
    return [torch.cat(list(group)) for _, group in groups]


@fix("rewrite", "exact")
def fixed(tensors):
    """The sequence is the first positional argument, which is the form that Dynamo supports."""
    groups = groupby(tensors, key=width)
    return [torch.cat(list(group)) for _, group in groups]
