"""A subclass of Tensor has a class method that is not written as a function but made from
something callable, such as a functools.partial.
"""

import functools

import torch

from fullgraph.catalog.kit import fix


def offset_of(cls, scale):
    return 273.15 * scale


class Temperature(torch.Tensor):
    offset = classmethod(functools.partial(offset_of, scale=1.0))

    @classmethod
    def written_offset(cls):
        return offset_of(cls, scale=1.0)


def inputs():
    return torch.rand(4, 8).as_subclass(Temperature)


def breaks(celsius):
    return celsius + celsius.offset()


@fix("rewrite", "exact")
def fixed(celsius):
    """A class method that is written out is a function which Dynamo can trace into."""
    return celsius + celsius.written_offset()
