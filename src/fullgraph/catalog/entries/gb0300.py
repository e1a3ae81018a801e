"""`np.dtype(values)` or `np.finfo(values)` is called with the array where its dtype was meant."""

import numpy as np
import torch

from fullgraph.catalog.kit import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x / np.dtype(x.numpy()).itemsize


@fix("rewrite", "exact")
def fixed(x):
    """The size of an element is a constant that a tensor has itself."""
    return x / x.itemsize
