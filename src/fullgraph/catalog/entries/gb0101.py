"""A helper in another module puts a hook on a tensor, to clip its gradient for instance, and keeps
the handle in a global of that module.
"""

import types

import torch

from fullgraph.catalog.fix_decorator import fix

# A module of its own, as a file clipping.py would be.
clipping = types.ModuleType("clipping")
exec(
    """
HANDLE = None


def clip_gradient(tensor):
    global HANDLE
    HANDLE = tensor.register_hook(lambda gradient: gradient.clamp(-1, 1))
""",
    vars(clipping),
)


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(4, 8)


def breaks(weight, x):
    clipping.clip_gradient(weight)
    return (x * weight).sum()


def clip_gradient(weight, x):
    clipping.clip_gradient(weight)
    return weight, x


@fix("move", "exact", before=clip_gradient)
def fixed(weight, x):
    """The hook is registered in eager, before the compiled function; it still runs in the backward
    pass."""
    return (x * weight).sum()
