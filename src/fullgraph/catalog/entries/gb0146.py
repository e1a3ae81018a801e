"""Events time the work inside the compiled function, `start.elapsed_time(end)`. Dynamo traces
recording and waiting, but not reading the elapsed time.
"""

import torch

# Without an accelerator no event is recorded.
EAGER_RAISES = True
INSTEAD = (
    "Record the events before and after the call of the compiled function, synchronize, and read "
    "the elapsed time there. Inside, the compiler may move work across the events."
)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    start = torch.Event(enable_timing=True)
    end = torch.Event(enable_timing=True)
    return x.relu(), start.elapsed_time(end)
