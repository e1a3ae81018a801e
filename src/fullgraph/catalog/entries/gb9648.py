"""A NumPy function is passed as an option and compared with `==`. Dynamo cannot compare this kind
of object.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), np.mean


def breaks(x, reduction):
    if reduction == np.sum:
        return x.sum(dim=0)
    return x.mean(dim=0)


@fix("rewrite", "exact")
def fixed(x, reduction):
    """Functions are equal if they are the same object. `is` checks that, and Dynamo supports it."""
    if reduction is np.sum:
        return x.sum(dim=0)
    return x.mean(dim=0)
