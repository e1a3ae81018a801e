"""A function of NumPy is called in a compiled function, and it is one of those that torch's own
version of NumPy, which Dynamo puts in its place, does not have: `np.nanmean`, `np.interp`.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    x = torch.randn(4, 8)
    x[0, 0] = torch.nan
    return x


def breaks(x):
    values = x.numpy()
    return torch.from_numpy(np.nanmean(values, axis=0))


@fix("rewrite", "equal")
def fixed(x):
    """torch has the function too, though not under its NumPy, and needs no detour over an array."""
    return torch.nanmean(x, dim=0)
