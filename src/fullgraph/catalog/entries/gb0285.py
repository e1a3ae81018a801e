"""`torch.accelerator.current_stream` is called with a device type and an index. It takes one
argument, the device, so eager mode raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    stream = torch.accelerator.current_stream("cuda", 0)
    y = x * 2
    stream.synchronize()
    return y


def _wait(y):
    if y.device.type != "cpu":
        torch.accelerator.current_stream(y.device).synchronize()
    return y


@fix("move", "exact", after=_wait)
def fixed(x):
    """The device, including its index, is one argument. The caller waits for the result, because a
    graph does not need to wait in the middle.
    """
    return x * 2
