"""Work is timed with events inside the compiled function, `start.elapsed_time(end)`. Dynamo
traces recording and waiting, not the question how long it took.
"""

import torch

# Without an accelerator an event is never recorded.
EAGER_RAISES = True
INSTEAD = (
    "Record the events before and after the call of the compiled function, synchronize, and ask "
    "for the elapsed time there; inside, the compiler may move the work away from the events."
)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    start = torch.Event(enable_timing=True)
    end = torch.Event(enable_timing=True)
    return x.relu(), start.elapsed_time(end)
