"""A Tensor subclass has a class method made from a callable such as a functools.partial, instead of
a function.
"""

import functools

import torch

from fullgraph.catalog.fix_decorator import fix


def offset(cls, sign):
    return sign * 273.15


class Temperature(torch.Tensor):
    to_kelvin = classmethod(functools.partial(offset, sign=1))
    to_celsius = classmethod(functools.partial(offset, sign=-1))

    @classmethod
    def written_to_kelvin(cls):
        return offset(cls, sign=1)


def inputs():
    return torch.rand(4, 8).as_subclass(Temperature)


def breaks(celsius):
    return celsius + celsius.to_kelvin()


@fix("rewrite", "exact")
def fixed(celsius):
    """An explicit class method is a function that Dynamo can trace into."""
    return celsius + celsius.written_to_kelvin()
