"""A compiled function uses NumPy's random numbers while `use_numpy_random_stream` requires exactly
the numbers that NumPy draws. A graph draws from torch's random stream.
"""

import numpy as np
import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"use_numpy_random_stream": True}


def inputs():
    np.random.seed(0)
    return torch.randn(4, 8)


def breaks(x):
    keep = np.random.random_sample(8) < 0.9
    return x * torch.from_numpy(keep)


def draw(x):
    return x, torch.from_numpy(np.random.random_sample(8) < 0.9)


@fix("move", "exact", before=draw)
def fixed(x, keep):
    """The caller draws the numbers before the call, so they are NumPy's own."""
    return x * keep
