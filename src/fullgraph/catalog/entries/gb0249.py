"""`torch.accelerator.current_stream` gets a name that is not a device, such as "gpu". Eager mode
raises as well.
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
    """The tensor has the device. The caller waits for the result, because waiting inside would only
    delay the graph.
    """
    return x * 2
