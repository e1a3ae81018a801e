"""A module's `__init__` does not call `super().__init__()`, so nothing that makes it a module is
there. In eager, calling it ends in an AttributeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Unprepared(torch.nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return torch.relu(x)


class Prepared(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.relu(x)


unprepared = Unprepared()
prepared = Prepared()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return unprepared(x)


@fix("rewrite", "exact")
def fixed(x):
    """`super().__init__()` comes first in the module's `__init__`."""
    return prepared(x)
