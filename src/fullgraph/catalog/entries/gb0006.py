"""A custom exception class has an `__init__` that calls `super().__init__(message)`, and the
compiled function raises it. The inherited method is written in C, but Dynamo expects a Python
function. A module that a base class stores as an attribute causes the same break.
"""

import torch
import torch.nn.functional as F

from fullgraph.catalog.fix_decorator import fix


class TooFewRows(ValueError):
    def __init__(self, message, rows):
        super().__init__(message)
        self.rows = rows


class TooFewRowsInArgs(ValueError):
    """Raised with the message and the number of rows."""


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    try:
        if x.shape[0] < 6:
            raise TooFewRows("expected six rows", x.shape[0])
    except TooFewRows as error:
        x = F.pad(x, (0, 0, 0, 6 - error.rows))
    return x.relu()


@fix("rewrite", "exact")
def fixed(x):
    """An exception stores its arguments in `args`, so the class needs no `__init__`."""
    try:
        if x.shape[0] < 6:
            raise TooFewRowsInArgs("expected six rows", x.shape[0])
    except TooFewRowsInArgs as error:
        _, rows = error.args
        x = F.pad(x, (0, 0, 0, 6 - rows))
    return x.relu()


@fix("rewrite", "exact")
def fixed_with_a_test(x):
    """A condition that the same function handles needs no exception."""
    if x.shape[0] < 6:
        x = F.pad(x, (0, 0, 0, 6 - x.shape[0]))
    return x.relu()
