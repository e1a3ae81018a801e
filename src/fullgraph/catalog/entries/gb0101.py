"""A helper of another module puts a hook on a tensor and keeps its handle in a global of that
module.
"""

import types

import torch

from fullgraph.catalog.kit import fix

# A module of its own, as a file monitoring.py would be.
monitoring = types.ModuleType("monitoring")
exec(
    """
HANDLE = None


def watch(tensor):
    global HANDLE
    HANDLE = tensor.register_hook(abs)
""",
    vars(monitoring),
)


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(4, 8)


def breaks(weight, x):
    monitoring.watch(weight)
    return (x * weight).sum()


def watch(weight, x):
    monitoring.watch(weight)
    return weight, x


@fix("move", "exact", before=watch)
def fixed(weight, x):
    """The hook is registered in eager, before the compiled function; it still runs in the backward
    pass."""
    return (x * weight).sum()
