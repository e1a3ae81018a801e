"""A layer computes its kernel size from the shape of the input and passes it to the helper `_pair`
of torch.nn.modules.utils. With dynamic shapes the size is a symbol, not a number.
"""

import torch
import torch.nn.functional as F
from torch.nn.modules.utils import _pair

from fullgraph.catalog.fix_decorator import fix

COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(2, 3, 8, 8)


def breaks(image):
    kernel = _pair(image.shape[-1] // 2)
    return F.avg_pool2d(image, kernel)


@fix("rewrite", "exact")
def fixed(image):
    """An explicit tuple can contain symbols."""
    size = image.shape[-1] // 2
    return F.avg_pool2d(image, (size, size))
