"""Results are made an array of Python objects, `astype(object)`, for a table or for JSON. No tensor
can hold objects.
"""

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scores = x.softmax(dim=-1).amax(dim=-1)
    return scores.numpy().astype(object).tolist()


@fix("move", "exact", after=lambda scores: scores.numpy().astype(object).tolist())
def fixed(x):
    """The compiled function gives back the tensor, and the caller converts it."""
    return x.softmax(dim=-1).amax(dim=-1)
