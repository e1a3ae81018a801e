"""The key of `itertools.groupby` is passed by position: `groupby(layers, kind)`."""

from itertools import groupby

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return [torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 8)]


def breaks(tensors):
    groups = groupby(tensors, lambda t: t.shape[1])
    return [torch.cat(list(group)) for _, group in groups]


@fix("rewrite", "exact")
def fixed(tensors):
    """The key is passed by name, which is the form that Dynamo supports."""
    groups = groupby(tensors, key=lambda t: t.shape[1])
    return [torch.cat(list(group)) for _, group in groups]
