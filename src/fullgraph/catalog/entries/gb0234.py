"""A hand-written context manager for a torch function mode leaves it once more than it entered it,
so the stack of modes is empty when it is popped.
"""

import torch
from torch.overrides import BaseTorchFunctionMode, _pop_mode

from fullgraph.catalog.kit import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = torch.relu(x)
    _pop_mode()
    return y


@fix("rewrite", "exact")
def fixed(x):
    """A `with` block pushes the mode and pops it again exactly once."""
    with BaseTorchFunctionMode():
        return torch.relu(x)
