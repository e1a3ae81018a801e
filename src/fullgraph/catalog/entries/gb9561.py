"""A buffer such as `array.array` is repeated in place with `*=`, to fill a row with a pattern.
Dynamo can repeat lists, but not such buffers.
"""

from array import array

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), array("f", [0.5, 1.0, 2.0, 4.0])


def breaks(x, weights):
    weights *= 2
    return x * torch.tensor(weights)


def repeat(x, weights):
    weights *= 2
    return x, torch.tensor(weights)


@fix("move", "exact", before=repeat)
def fixed(x, weights):
    """The caller repeats the buffer and passes the weights as a tensor."""
    return x * weights
