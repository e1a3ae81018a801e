"""The compiled function removes a hook that was registered earlier, with `handle.remove()`."""

import torch

from fullgraph.catalog.fix_decorator import fix


class State:
    handle = None


def inputs():
    weight = torch.randn(8, requires_grad=True)
    State.handle = weight.register_hook(lambda grad: grad * 2)
    return weight, torch.randn(4, 8)


def breaks(weight, x):
    State.handle.remove()
    return (x * weight).sum()


def unhook(weight, x):
    State.handle.remove()
    return weight, x


@fix("move", "exact", before=unhook)
def fixed(weight, x):
    """Hooks are registered and removed outside the compiled function."""
    return (x * weight).sum()
