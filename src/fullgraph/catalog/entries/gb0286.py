"""`torch.get_device_module` gets a name that is not a device, such as "gpu". Eager mode raises as
well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x * 2
    torch.get_device_module("gpu").synchronize()
    return y


@fix("rewrite", "exact")
def fixed(x):
    """The tensor has the device, so no name is needed."""
    y = x * 2
    torch.get_device_module(x.device).synchronize()
    return y
