"""A window over the last states is filled with copies by multiplying, `deque([zero]) * 3`, and its
entries are replaced afterwards. Dynamo treats the product as if it could not be changed.
"""

from collections import deque

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    window = deque([torch.zeros_like(x)]) * 3
    window[0] = x
    return torch.stack(list(window)).mean(dim=0)


@fix("rewrite", "exact")
def fixed(x):
    """The multiplied list goes into the constructor, which makes a deque that may be changed."""
    window = deque([torch.zeros_like(x)] * 3)
    window[0] = x
    return torch.stack(list(window)).mean(dim=0)
