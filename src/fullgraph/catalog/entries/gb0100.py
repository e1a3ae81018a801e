"""A hook is put on a tensor, and its handle is kept in a global to take the hook off later."""

import torch

from fullgraph.catalog.fix_decorator import fix

HANDLE = None


def double(grad):
    return grad * 2


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(4, 8)


def breaks(weight, x):
    global HANDLE
    HANDLE = weight.register_hook(double)
    return (x * weight).sum()


def hook(weight, x):
    global HANDLE
    HANDLE = weight.register_hook(double)
    return weight, x


@fix("move", "exact", before=hook)
def fixed(weight, x):
    """The hook is registered in eager, where its handle can be kept anywhere; it still runs in the
    backward pass."""
    return (x * weight).sum()
