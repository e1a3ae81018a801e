"""A function decorated with `@contextmanager` has no `yield`: it returns the generator of a helper.
Python accepts this, because it only needs a generator.
"""

from contextlib import contextmanager

import torch

from fullgraph.catalog.fix_decorator import fix


def _no_grad_steps():
    with torch.no_grad():
        yield


@contextmanager
def evaluating():
    return _no_grad_steps()


@contextmanager
def evaluating_itself():
    with torch.no_grad():
        yield


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with evaluating():
        return x.softmax(dim=-1)


@fix("rewrite", "exact")
def fixed(x):
    """The decorated function itself is the generator, and Dynamo can trace it up to its yield."""
    with evaluating_itself():
        return x.softmax(dim=-1)
