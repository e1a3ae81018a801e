"""A handler searches the `__dict__` of a builtin error for details: `if "rows" in error.__dict__`.
Dynamo does not resolve that dictionary, so it does not know the type of the object to search.
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
    """A custom class has a default for the attribute, so the code reads the attribute directly."""
    missing = 0
    try:
        if x.shape[0] < 6:
            raise BatchError("expected six rows")
    except BatchError as error:
        missing = 6 - error.rows if error.rows is not None else 2
    return F.pad(x, (0, 0, 0, missing))
