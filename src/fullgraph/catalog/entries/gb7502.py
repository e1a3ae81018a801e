"""A class with a `__new__` of its own derives from an abstract class and does not define what is
abstract there. Making an object of it raises a TypeError in eager as well.
"""

from abc import ABC, abstractmethod

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Transform(ABC):
    @abstractmethod
    def apply(self, x): ...


class Scale(Transform):
    def __new__(cls):
        self = super().__new__(cls)
        self.factor = 2
        return self

    def transform(self, x):
        return x * self.factor


class CompleteScale(Transform):
    def __new__(cls):
        self = super().__new__(cls)
        self.factor = 2
        return self

    def apply(self, x):
        return x * self.factor


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return Scale().transform(x)


@fix("rewrite", "exact")
def fixed(x):
    """The class defines every abstract method, so that objects of it can be made."""
    return CompleteScale().apply(x)
