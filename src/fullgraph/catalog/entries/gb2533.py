"""A compiled function makes a context manager from a `@contextmanager` helper and returns it for
its caller to enter.
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
    """The compiled function returns the tensors, and its caller makes the context manager."""
    return x.relu()
