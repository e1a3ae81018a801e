"""Two lists or tuples that hold tensors are compared as a whole, `if bounds == previous:`. Python
asks each pair of elements whether they are equal, and each answer is a tensor.
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
    """Stacked into a tensor, the values are compared in the graph, and torch.where decides."""
    clipped = x.clamp(-1, 1)
    before = torch.stack([x.amin(), x.amax()])
    after = torch.stack([clipped.amin(), clipped.amax()])
    return torch.where((before == after).all(), x, clipped / 2)
