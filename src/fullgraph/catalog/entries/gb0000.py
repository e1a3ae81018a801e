"""An operation mixes two tensor subclasses that refuse to be mixed, such as two units of measure.
Each `__torch_function__` returns NotImplemented. Eager mode raises as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Unit(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add and any(kind is not cls for kind in types):
            return NotImplemented
        return super().__torch_function__(func, types, args, kwargs or {})


class Meters(Unit):
    pass


class Feet(Unit):
    pass


def inputs():
    return torch.rand(8).as_subclass(Meters), torch.rand(8).as_subclass(Feet)


def breaks(length, height):
    return torch.add(length, height)


def in_meters(length, height):
    return length, (height.as_subclass(torch.Tensor) * 0.3048).as_subclass(Meters)


@fix("move", "exact", before=in_meters)
def fixed(length, height):
    """The height is converted to meters before the call. Both arguments then have the same class,
    which handles the call.
    """
    return torch.add(length, height)
