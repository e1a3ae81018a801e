"""A hook is registered on a tensor, and a global stores its handle to remove the hook later."""

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
    """The caller registers the hook in eager mode, where any variable can store the handle. The
    hook still runs in the backward pass.
    """
    return (x * weight).sum()
