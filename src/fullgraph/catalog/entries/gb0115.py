"""Tensors are put into groups with itertools.groupby, and the key is an object of a class of one's
own. Dynamo compares keys only if they are constants.
"""

import dataclasses
import itertools

import torch

from fullgraph.catalog.fix_decorator import fix


@dataclasses.dataclass
class Kind:
    dims: int
    dtype: torch.dtype


def inputs():
    return torch.randn(4), torch.randn(4), torch.randn(2, 4)


def breaks(*tensors):
    groups = itertools.groupby(tensors, key=lambda t: Kind(t.dim(), t.dtype))
    return [torch.stack(list(group)).sum(dim=0) for _, group in groups]


@fix("rewrite", "exact")
def fixed(*tensors):
    """A tuple of numbers and dtypes says the same and is a constant."""
    groups = itertools.groupby(tensors, key=lambda t: (t.dim(), t.dtype))
    return [torch.stack(list(group)).sum(dim=0) for _, group in groups]
