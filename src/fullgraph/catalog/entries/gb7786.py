"""A compact table of flags, a `bytearray`, is written to in the compiled function. Dynamo follows
assignments into lists and dictionaries, not into such buffers.
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
    """A tensor over the same memory takes the assignment into the graph."""
    used[2] = 1
    return x[2] * 2
