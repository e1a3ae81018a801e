"""`itertools.groupby` gets its sequence by name: `groupby(iterable=layers, key=kind)`."""

from itertools import groupby

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return [torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 8)]


def breaks(tensors):
    groups = groupby(iterable=tensors, key=lambda t: t.shape[1])
    return [torch.cat(list(group)) for _, group in groups]


@fix("rewrite", "exact")
def fixed(tensors):
    """The sequence goes first and without a name, which is the form that Dynamo knows."""
    groups = groupby(tensors, key=lambda t: t.shape[1])
    return [torch.cat(list(group)) for _, group in groups]
