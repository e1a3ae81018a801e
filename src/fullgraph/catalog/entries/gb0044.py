"""Sequences of different lengths are kept in a nested tensor of the default, strided layout, and
one of them is handed to the compiled function: a view into the nested tensor.
"""

import warnings

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype, says torch
        batch = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    return batch.unbind()[1]


def breaks(sentence):
    return torch.softmax(sentence, dim=-1)


def alone(sentence):
    return sentence.clone()


@fix("move", "exact", before=alone)
def fixed(sentence):
    """A copy is no view of anything, and the nested tensor stays outside of the graph."""
    return torch.softmax(sentence, dim=-1)
