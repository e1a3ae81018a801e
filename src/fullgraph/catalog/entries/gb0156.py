"""A method is called on a library object that is not written in Python, such as
`elapsed.total_seconds()` of a `timedelta`.
"""

from datetime import timedelta

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), timedelta(minutes=2)


def breaks(x, elapsed):
    return x * 0.5 ** (elapsed.total_seconds() / 60)


def to_seconds(x, elapsed):
    return x, elapsed.total_seconds()


@fix("move", "equal", before=to_seconds)
def fixed(x, seconds):
    """The caller converts the object to a plain number, which Dynamo supports."""
    return x * 0.5 ** (seconds / 60)
