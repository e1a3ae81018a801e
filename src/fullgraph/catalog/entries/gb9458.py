"""A buffer such as `array.array` is repeated with `*`, to fill a row with a pattern. Dynamo can
repeat lists and tuples, but not such buffers.
"""

from array import array

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), array("f", [0.5, 1.0, 2.0, 4.0])


def breaks(x, weights):
    row = weights * 2
    return x * torch.tensor(row)


def _as_tensor(x, weights):
    return x, torch.tensor(weights)


@fix("move", "exact", before=_as_tensor)
def fixed(x, weights):
    """The caller passes the numbers as a tensor, and the graph repeats them."""
    return x * weights.repeat(2)
