"""Blocks marked with `record_function` are captured into the graph, and something inside such a
block breaks the graph.
"""

import torch
from torch.profiler import record_function

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the break inside the block instead.
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
    """The function returns the value to print, and the caller prints it. Nothing inside the block
    breaks the graph.
    """
    with record_function("encoder"):
        hidden = x.relu()
        mean = hidden.mean()
        hidden = hidden * 2
    return mean, hidden.sum(dim=-1)
