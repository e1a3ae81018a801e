"""A generator from outside holds the state of a schedule, and the compiled function advances it
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
    """The caller advances the schedule and passes the scale. The scale is a tensor, so new values
    do not recompile.
    """
    return x * scale
