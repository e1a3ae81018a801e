"""A forward calls an object from a library that Dynamo keeps out of, such as a polynomial of NumPy
that serves as a schedule.
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
    """The schedule is asked before the call; a tensor keeps new values from compiling again."""
    return x * scale.to(x.dtype)
