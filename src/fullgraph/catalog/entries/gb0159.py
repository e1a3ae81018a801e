"""Code reads the version of NumPy from an array instead of the module, because a variable shadows
the name of the module.
"""

import numpy
import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    np = x.numpy()
    if np.__version__.startswith("0."):
        return x
    return x + 1


@fix("rewrite", "exact")
def fixed(x):
    """The version is an attribute of the module and a constant."""
    if numpy.__version__.startswith("0."):
        return x
    return x + 1
