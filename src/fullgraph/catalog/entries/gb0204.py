"""A read-only registry, `types.MappingProxyType`, has classes or other objects for its keys and is
read in the compiled function.
"""

import types

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), types.MappingProxyType({nn.Linear: 0.1, nn.Conv2d: 0.2})


def breaks(x, rates):
    return x * rates[nn.Linear]


def with_dict(x, rates):
    return x, dict(rates)


@fix("move", "exact", before=with_dict)
def fixed(x, rates):
    """A plain dict may have any keys. A copy is as safe as the proxy."""
    return x * rates[nn.Linear]
