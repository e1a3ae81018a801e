"""A schedule is kept as `timedelta` or `Decimal`, and the model calculates with it. Their operators
are written in C, where Dynamo cannot look.
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
    """The model gets a number, and arithmetic on numbers is traced."""
    return x / (age + delay)
