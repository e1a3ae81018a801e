"""An assertion fails with a message that is not a string, such as a shape or a tuple, and the
failure is handled.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(8, 8)


def breaks(image):
    try:
        assert image.dim() == 3, image.shape
    except AssertionError:
        image = image.unsqueeze(0)
    return image.mean(dim=(1, 2))


@fix("rewrite", "exact")
def fixed(image):
    """An ordinary condition replaces the exception."""
    if image.dim() != 3:
        image = image.unsqueeze(0)
    return image.mean(dim=(1, 2))
