"""A random number is converted to a string, to look something up by name or for a label. Dynamo can
capture the number in a graph, but not the string.
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
    """The caller makes the choice and passes a tensor, so a new value does not recompile."""
    return x * scale
