"""A subclass of Tensor has a class method that is not written as a function but made from
something callable, such as a functools.partial.
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
    """A class method that is written out is a function which Dynamo can trace into."""
    return celsius + celsius.written_to_kelvin()
