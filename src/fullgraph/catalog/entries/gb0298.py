"""NumPy's random numbers in a compiled function, while `use_numpy_random_stream` asks for exactly
the numbers that NumPy itself would draw. A graph draws from torch's stream.
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
    """Drawn before the compiled function, the numbers are NumPy's own."""
    return x * keep
