"""A generator keeps a running state and takes new values with `send`; another one wraps it with
`yield from`. Dynamo follows `send` into a generator, but not through the delegation.
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
    """What the wrapper did is done first; then values are sent to the generator itself."""
    sums = running_sum(x[0] * 2)
    next(sums)
    sums.send(x[1])
    return sums.send(x[2])
