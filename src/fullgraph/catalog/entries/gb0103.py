"""A tensor subclass with a `__torch_function__` overrides a method that Python calls for syntax,
such as `__setitem__`. The compiled function uses that syntax: `image[0] = line`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Drawable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})

    def draw(self, key, value):
        torch.Tensor.__setitem__(self, key, value.clamp(0, 1))


class Image(Drawable):
    """An image that clamps assigned values to between 0 and 1."""

    def __setitem__(self, key, value):
        self.draw(key, value)


def inputs():
    return torch.rand(8, 8).as_subclass(Image), torch.randn(8)


def breaks(image, line):
    image[0] = line
    return image.mean(dim=0)


@fix("rewrite", "exact")
def fixed(image, line):
    """Dynamo inlines a method that torch.Tensor does not have, as on any object."""
    image.draw(0, line)
    return image.mean(dim=0)
