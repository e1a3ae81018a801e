"""Code that manually pushes and pops a torch function mode pops once too often, for example on an
error path. The stack of modes is empty then, and eager mode raises as well.
"""

import torch
from torch.overrides import BaseTorchFunctionMode, _pop_mode, _push_mode

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    _push_mode(BaseTorchFunctionMode())
    y = torch.relu(x)
    _pop_mode()
    _pop_mode()
    return y


@fix("rewrite", "exact")
def fixed(x):
    """A `with` block pushes the mode and pops it exactly once."""
    with BaseTorchFunctionMode():
        return torch.relu(x)
