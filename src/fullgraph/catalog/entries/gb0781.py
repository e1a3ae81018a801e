"""A window of recent states is filled with copies by multiplication, `deque([zero]) * 3`, and its
entries are replaced later. Dynamo treats the product as immutable.
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
    """The constructor gets the multiplied list and makes a deque that can be mutated."""
    window = deque([torch.zeros_like(x)] * 3)
    window[0] = x
    return torch.stack(list(window)).mean(dim=0)
