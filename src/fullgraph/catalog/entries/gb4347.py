"""A compiled step takes its next value from an iterator made outside, `next(schedule)` or
`next(batches)`. Dynamo cannot advance an iterator that it did not make.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), iter([0.5, 0.25, 0.125])


def breaks(x, schedule):
    rate = next(schedule)
    return x * rate


def advance(x, schedule):
    return x, torch.tensor(next(schedule))


@fix("move", "exact", before=advance)
def fixed(x, rate):
    """The loop around the step advances the iterator and passes the value. The value is a tensor,
    so new values do not recompile.
    """
    return x * rate
