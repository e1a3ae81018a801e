"""`torch.get_device_module` is given a name that is no device, such as "gpu". Eager raises as
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
    """The tensor knows its device; no name has to be spelled."""
    y = x * 2
    torch.get_device_module(x.device).synchronize()
    return y
