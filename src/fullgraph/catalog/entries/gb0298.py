"""NumPy's random numbers in a compiled function, while `use_numpy_random_stream` asks for exactly
the numbers that NumPy itself would draw. A graph draws from torch's stream.
"""

import numpy as np
import torch

from fullgraph.catalog.kit import fix

CONFIG = {"use_numpy_random_stream": True}

KEEP_RATE = 1.0


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    keep = np.random.random_sample(8) < KEEP_RATE
    return x * torch.from_numpy(keep)


def draw(x):
    return x, torch.from_numpy(np.random.random_sample(8) < KEEP_RATE)


@fix("move", "exact", before=draw)
def fixed(x, keep):
    """Drawn before the compiled function, the numbers are NumPy's own."""
    return x * keep
