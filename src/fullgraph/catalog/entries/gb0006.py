"""An exception class of one's own has an `__init__` that calls `super().__init__(message)`, and the
compiled function raises it. What super() finds there is written in C, while Dynamo expects a
function of Python; so it is for a module that a base class keeps as an attribute.
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
    """An exception keeps what it is raised with in `args`, so the class needs no `__init__`."""
    try:
        if x.shape[0] < 6:
            raise TooFewRowsInArgs("expected six rows", x.shape[0])
    except TooFewRowsInArgs as error:
        _, rows = error.args
        x = F.pad(x, (0, 0, 0, 6 - rows))
    return x.relu()


@fix("rewrite", "exact")
def fixed_with_a_test(x):
    """What is handled in the same function needs no exception."""
    if x.shape[0] < 6:
        x = F.pad(x, (0, 0, 0, 6 - x.shape[0]))
    return x.relu()
