"""itertools.groupby groups tensors by a key of a custom class. Dynamo compares only constant
keys.
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
    """A tuple of numbers and dtypes holds the same values and is a constant."""
    groups = itertools.groupby(tensors, key=lambda t: (t.dim(), t.dtype))
    return [torch.stack(list(group)).sum(dim=0) for _, group in groups]
