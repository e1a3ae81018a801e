"""A class registered as opaque computes a class attribute with a descriptor written in Python. A
compiled function reads the attribute from the class.
"""

import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase

from fullgraph.catalog.fix_decorator import fix


class ClassProperty:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function(owner)


class Sampler(OpaqueBase):
    scale = 4

    @ClassProperty
    def temperature(cls):
        return 2 / cls.scale

    @staticmethod
    def default_temperature():
        return 2 / Sampler.scale


register_opaque_type(Sampler, typ="reference")


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.softmax(x / Sampler.temperature, dim=-1)


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo finds a static method on the class without running a custom descriptor."""
    return torch.softmax(x / Sampler.default_temperature(), dim=-1)


def read(x):
    return x, Sampler.temperature


@fix("move", "exact", before=read)
def fixed_by_passing_it_in(x, temperature):
    """The caller reads the attribute before the call and passes the number."""
    return torch.softmax(x / temperature, dim=-1)
