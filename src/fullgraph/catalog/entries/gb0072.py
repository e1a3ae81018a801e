"""An in-place change of shape is called through the class, `torch.Tensor.unsqueeze_(image, 0)`, on
a tensor that the caller passed in.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(3, 8, 8)


def breaks(image):
    torch.Tensor.unsqueeze_(image, 0)
    return torch.nn.functional.avg_pool2d(image, 2)


def add_batch(image):
    return image.unsqueeze_(0)


@fix("move", "exact", before=add_batch)
def fixed(image):
    """The caller changes the shape before the call. If the caller does not need the new shape,
    image.unsqueeze(0) inside makes a view and does not mutate the argument.
    """
    return torch.nn.functional.avg_pool2d(image, 2)
