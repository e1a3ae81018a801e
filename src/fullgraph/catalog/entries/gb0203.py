"""The compiled function gets a view of the keys of a dict, `rates.keys()`, and the keys are
classes, modules or other objects.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


def inputs():
    rates = {nn.Linear: 0.1, nn.Conv2d: 0.2}
    return torch.randn(4, 8), rates.keys()


def breaks(x, kinds):
    if nn.Linear not in kinds:
        x = x.detach()
    return x.relu()


def with_list(x, kinds):
    return x, list(kinds)


@fix("move", "exact", before=with_list)
def fixed(x, kinds):
    """A list, or the dict itself, may hold any object. Dynamo guards on each of them."""
    if nn.Linear not in kinds:
        x = x.detach()
    return x.relu()
