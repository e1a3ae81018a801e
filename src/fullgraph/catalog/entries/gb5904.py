"""A history is stored in a custom class that extends `deque`, and the model reads one of its
elements, `history[0]`. Dynamo traces a plain deque, but not a custom subclass.
"""

from collections import deque

import torch

from fullgraph.catalog.fix_decorator import fix


class History(deque):
    """The learning rates of the last steps."""


def inputs():
    return torch.randn(4, 8), History([0.5, 0.25], maxlen=2)


def breaks(x, history):
    return x * history[0]


def to_list(x, history):
    return x, list(history)


@fix("move", "exact", before=to_list)
def fixed(x, history):
    """The caller passes a plain list with the same elements."""
    return x * history[0]
