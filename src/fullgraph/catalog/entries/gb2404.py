"""An abstract base class is instantiated instead of one of its subclasses. Python raises when the
object is made, and Dynamo cannot make one for its own use either.
"""

from abc import ABC, abstractmethod

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Activation(ABC):
    @abstractmethod
    def apply(self, x): ...


class Relu(Activation):
    def apply(self, x):
        return torch.relu(x)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return Activation().apply(x)


@fix("rewrite", "exact")
def fixed(x):
    """The subclass implements every abstract method, so it can be instantiated."""
    return Relu().apply(x)
