"""A helper in another module registers a hook on a tensor, for example to clip its gradient. A
global of that module stores the handle.
"""

import types

import torch

from fullgraph.catalog.fix_decorator import fix

# Stands in for a file clipping.py.
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
    """The caller registers the hook in eager mode, before the call. The hook still runs in the
    backward pass.
    """
    return (x * weight).sum()
