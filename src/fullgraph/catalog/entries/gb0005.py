"""The compiled function converts a date, a Decimal or another object implemented in C to a string,
for a name or a key: `{str(today): loss}`.
"""

import datetime

import torch

from fullgraph.catalog.fix_decorator import fix

DAY = datetime.date(2026, 1, 31)
DAY_TEXT = str(DAY)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return {str(DAY): x.mean(dim=-1)}


@fix("move", "exact")
def fixed(x):
    """The string is made once, outside. It is a constant during tracing."""
    return {DAY_TEXT: x.mean(dim=-1)}
