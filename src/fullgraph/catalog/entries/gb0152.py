"""`itertools.groupby` groups items by an object, such as the settings of a layer, instead of a
number or a string.
"""

from dataclasses import dataclass
from itertools import groupby

import torch

from fullgraph.catalog.fix_decorator import fix


@dataclass
class Bucket:
    width: int


def inputs():
    tensors = [torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 8)]
    return [(Bucket(t.shape[1]), t) for t in tensors]


def breaks(items):
    groups = groupby(items, key=lambda item: item[0])
    return [torch.cat([t for _, t in group]) for _, group in groups]


@fix("rewrite", "exact")
def fixed(items):
    """The key is the number inside the object. A tuple of such values works too."""
    groups = groupby(items, key=lambda item: item[0].width)
    return [torch.cat([t for _, t in group]) for _, group in groups]
