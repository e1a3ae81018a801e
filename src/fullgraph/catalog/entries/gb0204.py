"""The compiled function reads a read-only registry, `types.MappingProxyType`, whose keys are
classes or other objects.
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
    """A plain dict may have any keys. A copy protects the original as well as the proxy does."""
    return x * rates[nn.Linear]
