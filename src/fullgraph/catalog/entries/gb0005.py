"""An object from C, such as a date or a Decimal, is made a text inside of the compiled function,
for a name or a key: `str(today)`.
"""

import datetime

import torch

from fullgraph.catalog.kit import fix

DAY = datetime.date(2026, 1, 31)
DAY_TEXT = str(DAY)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return {str(DAY): x.mean(dim=-1)}


@fix("move", "exact")
def fixed(x):
    """The text is made once outside; a string is a constant while tracing."""
    return {DAY_TEXT: x.mean(dim=-1)}
