"""The data loader passes numbers in a compact container, an `array.array` or a `bytearray`, and the
model indexes it. Dynamo cannot read such a container.
"""

from array import array

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), array("q", [3, 5, 8, 2])


def breaks(x, lengths):
    return x[:, : lengths[0]]


def to_list(x, lengths):
    return x, lengths.tolist()


@fix("move", "exact", before=to_list)
def fixed(x, lengths):
    """The caller converts it to a list, which Dynamo can read."""
    return x[:, : lengths[0]]
