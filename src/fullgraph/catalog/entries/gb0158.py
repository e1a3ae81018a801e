"""The compiled function converts a result to bytes, to send or to hash it: `y.numpy().tobytes()`.
Bytes need the values.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    embedding = torch.nn.functional.normalize(x)
    return embedding.numpy().tobytes()


@fix("move", "exact", after=lambda embedding: embedding.numpy().tobytes())
def fixed(x):
    """The compiled function returns the tensor, and the caller converts it."""
    return torch.nn.functional.normalize(x)
