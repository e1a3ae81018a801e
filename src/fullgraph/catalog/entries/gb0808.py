"""A schedule is stored as `timedelta` or `Decimal`, and the model computes with it. Their operators
are written in C, and Dynamo cannot trace into C code.
"""

from datetime import timedelta

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), timedelta(seconds=3), timedelta(seconds=1)


def breaks(x, age, delay):
    seconds = (age + delay).total_seconds()
    return x / seconds


def in_seconds(x, age, delay):
    return x, age.total_seconds(), delay.total_seconds()


@fix("move", "equal", before=in_seconds)
def fixed(x, age, delay):
    """The model gets numbers, and Dynamo traces arithmetic on numbers."""
    return x / (age + delay)
