"""Something that Dynamo computes on the spot turns out to be of a kind that it cannot represent:
here a `deque` that is repeated in place. For the user there is nothing wrong with it.
"""

from collections import deque

import torch

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    window = deque([0.5, 1.0, 2.0, 4.0])
    window *= 2
    return x * torch.tensor(list(window))


@fix("rewrite", "exact")
def fixed(x):
    """The same without the assignment in place, which is the form that Dynamo traces."""
    window = deque([0.5, 1.0, 2.0, 4.0])
    window = window * 2
    return x * torch.tensor(list(window))
