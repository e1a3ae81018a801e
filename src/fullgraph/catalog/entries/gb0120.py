"""A generator keeps a running state and receives new values with `send`. Another generator wraps it
with `yield from`. Dynamo traces `send` into a generator, but not through the delegation.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def running_sum(start):
    total = start
    while True:
        total = total + (yield total)


def doubled_start(start):
    yield from running_sum(start * 2)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    sums = doubled_start(x[0])
    next(sums)
    sums.send(x[1])
    return sums.send(x[2])


@fix("rewrite", "exact")
def fixed(x):
    """The work of the wrapper is done first. Values are then sent directly to the inner
    generator.
    """
    sums = running_sum(x[0] * 2)
    next(sums)
    sums.send(x[1])
    return sums.send(x[2])
