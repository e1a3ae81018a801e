"""A function of NumPy that torch has no counterpart for, such as `np.nanmean` or `np.interp`, is
called in a compiled function.
"""

import numpy as np
import torch

from fullgraph.catalog.kit import fix


def inputs():
    x = torch.randn(4, 8)
    x[0, 0] = torch.nan
    return x


def breaks(x):
    values = x.numpy()
    return torch.from_numpy(np.nanmean(values, axis=0))


@fix("rewrite", "equal")
def fixed(x):
    """torch has this one among its own functions, if not among those of its NumPy."""
    return torch.nanmean(x, dim=0)
