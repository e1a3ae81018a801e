"""The model tests whether a number is in a compact container from the data loader, such as an
`array.array`: `if layer in skipped`. Dynamo cannot search such a container.
"""

from array import array

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), array("q", [1, 3])


def breaks(x, skipped):
    for layer in range(4):
        if layer not in skipped:
            x = torch.tanh(x + layer)
    return x


def to_set(x, skipped):
    return x, frozenset(skipped)


@fix("move", "exact", before=to_set)
def fixed(x, skipped):
    """The caller passes a set. Dynamo searches it during tracing and guards on its elements."""
    for layer in range(4):
        if layer not in skipped:
            x = torch.tanh(x + layer)
    return x
