"""Blocks marked with `record_function` are captured into the graph, and something inside one of
them breaks it.
"""

import torch
from torch.profiler import record_function

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True the break inside the block is reported instead.
BY_DEFAULT = True
CONFIG = {"capture_profiler_record_function": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with record_function("encoder"):
        hidden = x.relu()
        print("mean", hidden.mean())
        hidden = hidden * 2
    return hidden.sum(dim=-1)


def report(result):
    mean, total = result
    print("mean", mean)
    return total


@fix("move", "reordered", after=report, capture_profiler_record_function=True)
def fixed(x):
    """Nothing inside the block breaks any more: what is to be printed is returned, and the
    caller prints it."""
    with record_function("encoder"):
        hidden = x.relu()
        mean = hidden.mean()
        hidden = hidden * 2
    return mean, hidden.sum(dim=-1)
