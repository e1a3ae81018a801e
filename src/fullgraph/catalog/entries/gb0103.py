"""A tensor subclass with a `__torch_function__` overrides a method of tensors that Python calls for
a piece of syntax, `__setitem__` for example, and the compiled function assigns: `image[0] = line`.
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
    """Takes brightness between 0 and 1 only."""

    def __setitem__(self, key, value):
        self.draw(key, value)


def inputs():
    return torch.rand(8, 8).as_subclass(Image), torch.randn(8)


def breaks(image, line):
    image[0] = line
    return image.mean(dim=0)


@fix("rewrite", "exact")
def fixed(image, line):
    """A method that torch.Tensor does not have is looked up as on any object, and inlined."""
    image.draw(0, line)
    return image.mean(dim=0)
