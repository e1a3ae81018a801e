"""Two lists or tuples of tensors are compared as a whole, `if bounds == previous:`. Python compares
each pair of elements, and each result is a tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    clipped = x.clamp(-1, 1)
    if [x.amin(), x.amax()] == [clipped.amin(), clipped.amax()]:
        return x
    return clipped / 2


@fix("rewrite", "exact")
def fixed(x):
    """The values are stacked into a tensor and compared in the graph, and torch.where selects the
    result.
    """
    clipped = x.clamp(-1, 1)
    before = torch.stack([x.amin(), x.amax()])
    after = torch.stack([clipped.amin(), clipped.amax()])
    return torch.where((before == after).all(), x, clipped / 2)
