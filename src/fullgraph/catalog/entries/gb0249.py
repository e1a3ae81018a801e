"""`torch.accelerator.current_stream` is given a name that is no device, such as "gpu". Eager raises
as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    stream = torch.accelerator.current_stream("gpu")
    y = x * 2
    stream.synchronize()
    return y


def _wait(y):
    if y.device.type != "cpu":
        torch.accelerator.current_stream(y.device).synchronize()
    return y


@fix("move", "exact", after=_wait)
def fixed(x):
    """The tensor knows its device; and waiting belongs outside, it would only hold up the graph."""
    return x * 2
