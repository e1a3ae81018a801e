"""A tensor subclass is asked whether it is a view: `if x._base is not None`, to copy it before
something is written into it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Image(torch.Tensor):
    pass


def inputs():
    return torch.rand(4, 8, 8).as_subclass(Image)[0]


def breaks(image):
    if image._base is not None:
        image = image.clone()
    return image.clamp_(0.2, 0.8)


def own(image):
    return image.clone() if image._base is not None else image


@fix("move", "exact", before=own)
def fixed(image):
    """Whether the argument is a view is known to the caller: asked there, it is no part of the
    graph.
    """
    return image.clamp_(0.2, 0.8)


@fix("rewrite", "narrower")
def fixed_out_of_place(image):
    """An operation that makes a new tensor needs no copy and does not have to ask. It is the same
    only where nobody counts on an image of its own being changed in place.
    """
    return image.clamp(0.2, 0.8)
