"""`torch.fx.traceback.annotate` labels a part of the model, and something inside the block breaks
the graph, here a debug print. The label cannot continue across the break.
"""

import torch
from torch.fx.traceback import annotate

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the break inside the block instead.
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
    """The function returns the value to print, and the caller prints it. Nothing inside the block
    breaks the graph.
    """
    with annotate({"stage": "encoder"}):
        hidden = x.relu()
        mean = hidden.mean()
        hidden = hidden * 2
    return mean, hidden.sum(dim=-1)
