"""The compiled function writes to a compact table of flags, a `bytearray`. Dynamo traces
assignments into lists and dictionaries, but not into such buffers.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), bytearray(4)


def breaks(x, used):
    used[2] = 1
    return x[2] * 2


def as_tensor(x, used):
    return x, torch.frombuffer(used, dtype=torch.uint8)


@fix("move", "exact", before=as_tensor)
def fixed(x, used):
    """A tensor over the same memory makes the assignment part of the graph."""
    used[2] = 1
    return x[2] * 2
