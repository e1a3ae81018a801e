"""A tensor subclass has a class attribute with the name of one that every tensor has: `layout`,
`name`, `nbytes`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Image(torch.Tensor):
    name = "gray"
    title = "gray"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def inputs():
    return torch.rand(4, 8).as_subclass(Image)


def breaks(image):
    if image.name == "gray":
        return image.mean(dim=0)
    return image


@fix("rewrite", "exact")
def fixed(image):
    """Under a name of its own the attribute hides nothing, and is looked up like any other."""
    if image.title == "gray":
        return image.mean(dim=0)
    return image
