"""Code checks whether a tensor subclass is a view, `if x._base is not None`, to copy it before
mutating it.
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
    """The caller checks whether the argument is a view, so the check is not part of the graph."""
    return image.clamp_(0.2, 0.8)


@fix("rewrite", "narrower")
def fixed_out_of_place(image):
    """An out-of-place operation needs neither a copy nor the check. It is equivalent only if no
    caller relies on the in-place change of an image that is not a view.
    """
    return image.clamp(0.2, 0.8)
