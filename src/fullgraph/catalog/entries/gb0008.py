"""A forward calls an object of a library that Dynamo does not trace into, such as a NumPy
polynomial used as a schedule.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix

schedule = np.polynomial.Polynomial([1.0, -0.5, 0.25])


def inputs():
    return torch.randn(4, 8), 0.5


def breaks(x, progress):
    return x * schedule(progress)


@fix("move", "exact", before=lambda x, progress: (x, torch.tensor(schedule(progress))))
def fixed(x, scale):
    """The caller evaluates the schedule before the call. The scale is a tensor, so new values do
    not recompile.
    """
    return x * scale.to(x.dtype)
