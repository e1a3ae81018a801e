"""The wrapping is taken off a tensor subclass inside the compiled function, with
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
    """Taken off at the border, the graph never sees the subclass. It costs nothing: the memory is
    shared.
    """
    return pixels - pixels.mean()
