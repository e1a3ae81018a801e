"""`torch.accelerator.current_stream` is called with a kind of device and an index. It takes one
argument, the device; eager raises a TypeError.
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
    """The device is one argument, index included; and the caller waits for the result, since a
    graph has no need to wait in its middle."""
    return x * 2
