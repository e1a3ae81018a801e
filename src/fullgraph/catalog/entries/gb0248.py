"""`torch.get_device_module` is called with a device type and an index, as `torch.device` can be. It
takes one argument, so eager mode raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x * 2
    torch.get_device_module("cuda", 0).synchronize()
    return y


@fix("rewrite", "exact")
def fixed(x):
    """A device object holds both the type and the index in one argument."""
    y = x * 2
    torch.get_device_module(x.device).synchronize()
    return y
