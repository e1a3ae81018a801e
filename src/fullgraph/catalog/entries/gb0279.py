"""A part of the model is labelled with `torch.fx.traceback.annotate`, and something inside the
block, here a debug print, breaks the graph: the label cannot be taken across the break.
"""

import torch
from torch.fx.traceback import annotate

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True the break inside the block is reported instead.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with annotate({"stage": "encoder"}):
        hidden = x.relu()
        print("mean", hidden.mean())
        hidden = hidden * 2
    return hidden.sum(dim=-1)


def report(result):
    mean, total = result
    print("mean", mean)
    return total


@fix("move", "reordered", after=report)
def fixed(x):
    """Nothing inside the block breaks any more: what is to be printed is returned, and the
    caller prints it."""
    with annotate({"stage": "encoder"}):
        hidden = x.relu()
        mean = hidden.mean()
        hidden = hidden * 2
    return mean, hidden.sum(dim=-1)
