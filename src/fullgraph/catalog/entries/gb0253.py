"""A generator from outside keeps the state of a schedule, and the compiled function moves it on
with `schedule.send(...)`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def schedule():
    scale = 1.0
    while True:
        decay = yield scale
        scale *= decay


def inputs():
    scales = schedule()
    next(scales)
    return torch.randn(4, 8), scales


def breaks(x, scales):
    return x * scales.send(0.5)


def with_scale(x, scales):
    return x, torch.tensor(scales.send(0.5))


@fix("move", "exact", before=with_scale)
def fixed(x, scale):
    """The caller moves the schedule on and hands over the scale; as a tensor it may change with
    every call without a new compile.
    """
    return x * scale
