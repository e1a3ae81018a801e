"""A compiled function returns a context manager that it has made from a `@contextmanager` helper,
for its caller to enter.
"""

from contextlib import contextmanager

import torch

from fullgraph.catalog.kit import fix


@contextmanager
def scaled(factor):
    yield factor


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x.relu(), scaled(2.0)


def add_manager(result):
    return result, scaled(2.0)


@fix("move", "exact", after=add_manager)
def fixed(x):
    """The graph returns the tensors, and its caller makes the context manager that it enters."""
    return x.relu()
