"""A tensor subclass has a class attribute with the name of a tensor attribute: `layout`, `name`,
`nbytes`.
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
    """The attribute has its own name, so it shadows no tensor attribute and Dynamo looks it up
    normally.
    """
    if image.title == "gray":
        return image.mean(dim=0)
    return image
