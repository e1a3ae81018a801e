"""A method of a NumPy ufunc is called, `np.maximum.accumulate(values)` or `np.add.reduce(values)`.
Dynamo supports ufuncs only as functions.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    values = x.numpy()
    return torch.from_numpy(np.maximum.accumulate(values, axis=-1))


@fix("rewrite", "exact")
def fixed(x):
    """torch has an operator for it: cummax here, cumsum or sum for np.add."""
    return x.cummax(dim=-1).values
