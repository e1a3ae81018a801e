"""The `__init__` of a module does not call `super().__init__()`, so the module is not initialized.
In eager mode, calling it raises an AttributeError.
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
    """The `__init__` of the module calls `super().__init__()` first."""
    return prepared(x)
