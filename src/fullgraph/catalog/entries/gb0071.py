"""A decorator for methods copies `__self__` to its wrapper to imitate the method. The wrapper is a
plain function, but Dynamo takes it for a bound method that should have been unpacked.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Scaler:
    def scale(self, x):
        return x * 2


def with_self(method):
    def wrapper(*arguments):
        return method(*arguments)

    wrapper.__self__ = method.__self__
    return wrapper


def with_owner(method):
    def wrapper(*arguments):
        return method(*arguments)

    wrapper.owner = method.__self__
    return wrapper


scaler = Scaler()
scale = with_self(scaler.scale)
owned_scale = with_owner(scaler.scale)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return scale(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """Under any other name, Dynamo treats the attribute as an ordinary attribute."""
    return owned_scale(x) + 1
