"""The compiled function converts a tensor subclass to a plain tensor with
`x.as_subclass(torch.Tensor)`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Image(torch.Tensor):
    pass


def inputs():
    return torch.rand(3, 8, 8).as_subclass(Image)


def breaks(image):
    pixels = image.as_subclass(torch.Tensor)
    return pixels - pixels.mean()


def unwrap(image):
    return image.as_subclass(torch.Tensor)


@fix("move", "exact", before=unwrap)
def fixed(pixels):
    """The caller converts the tensor before the call, so the graph never sees the subclass. The
    conversion copies nothing: both tensors share memory.
    """
    return pixels - pixels.mean()
