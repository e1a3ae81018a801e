"""Code that enters and leaves a torch function mode by hand leaves it once more than it entered it,
on a path for errors for example. The stack of modes is empty by then, and eager raises as well.
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
    """A `with` block pushes the mode and pops it again exactly once."""
    with BaseTorchFunctionMode():
        return torch.relu(x)
