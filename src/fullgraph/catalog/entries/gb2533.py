"""A compiled function returns a context manager that it has made from a `@contextmanager` helper,
for its caller to enter.
"""

from contextlib import contextmanager

import torch

from fullgraph.catalog.fix_decorator import fix


@contextmanager
def evaluation():
    with torch.no_grad():
        yield


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x.relu(), evaluation()


def add_manager(result):
    return result, evaluation()


@fix("move", "exact", after=add_manager)
def fixed(x):
    """The graph returns the tensors, and its caller makes the context manager that it enters."""
    return x.relu()
