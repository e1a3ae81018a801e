"""A handler looks into the `__dict__` of a builtin error for details that were put there:
`if "rows" in error.__dict__`. Dynamo leaves that dictionary unresolved, so it does not know what
type of thing is to be searched.
"""

import torch
import torch.nn.functional as F

from fullgraph.catalog.fix_decorator import fix


class BatchError(ValueError):
    rows = None


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    missing = 0
    try:
        if x.shape[0] < 6:
            raise ValueError("expected six rows")
    except ValueError as error:
        missing = 6 - error.rows if "rows" in error.__dict__ else 2
    return F.pad(x, (0, 0, 0, missing))


@fix("rewrite", "exact")
def fixed(x):
    """A class of one's own has a default for what not every error carries, so that the attribute
    can simply be read.
    """
    missing = 0
    try:
        if x.shape[0] < 6:
            raise BatchError("expected six rows")
    except BatchError as error:
        missing = 6 - error.rows if error.rows is not None else 2
    return F.pad(x, (0, 0, 0, missing))
