"""The sequence lengths of a batch are an `array.array`, to save memory in the data loader, and the
model calls `len()` on it. The type is written in C, and Dynamo cannot trace into C code.
"""

from array import array

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), array("q", [3, 5, 8, 2])


def breaks(x, lengths):
    return x / len(lengths)


def to_list(x, lengths):
    return x, lengths.tolist()


@fix("move", "exact", before=to_list)
def fixed(x, lengths):
    """The caller makes a list, whose length Dynamo knows and guards on."""
    return x / len(lengths)


@fix("rewrite", "narrower")
def fixed_with_the_shape(x, lengths):
    """The same number is a size of the tensor, if there is one length per row."""
    return x / x.shape[0]
