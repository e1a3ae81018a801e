"""A random number is turned into text, to look something up by name or to write it into a label.
Dynamo can carry the number through a graph, but not its text.
"""

import random

import torch

from fullgraph.catalog.fix_decorator import fix

SCALES = {"1": 0.5, "2": 1.0, "3": 2.0}


def inputs():
    random.seed(0)
    return torch.randn(4, 8)


def breaks(x):
    choice = str(random.randint(1, 3))
    return x * SCALES[choice]


def _choose(x):
    choice = str(random.randint(1, 3))
    return x, torch.tensor(SCALES[choice])


@fix("move", "exact", before=_choose)
def fixed(x, scale):
    """The choice is made outside; as a tensor, it needs no new compile when it changes."""
    return x * scale
