"""The lengths of the sequences in a batch come as an `array.array`, to save memory in the data
loader, and the model asks for its `len()`. The type is written in C, and Dynamo cannot follow.
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
    """A list, made by the caller, has a length that Dynamo knows and guards."""
    return x / len(lengths)


@fix("rewrite", "narrower")
def fixed_with_the_shape(x, lengths):
    """The same number is a size of the tensor, as long as there is one length for each row."""
    return x / x.shape[0]
