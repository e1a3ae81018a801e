"""A bounded queue of recent values is made with an argument that `deque` does not have: its size is
called `maxlen`. Eager mode raises a TypeError.
"""

from collections import deque

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    recent = deque(size=2)
    for row in x:
        recent.append(row)
    return torch.stack(list(recent))


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo traces a queue with `maxlen` like a list."""
    recent = deque(maxlen=2)
    for row in x:
        recent.append(row)
    return torch.stack(list(recent))
