"""A class with its own `__new__` derives from an abstract class and does not define an abstract
method. Eager mode also raises a TypeError when an instance is made.
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
    """The class defines every abstract method, so it can be instantiated."""
    return CompleteScale().apply(x)
