"""A nested tensor of the default, strided layout holds sequences of different lengths. The compiled
function gets one of them, which is a view of the nested tensor.
"""

import warnings

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that nested tensors are a prototype
        batch = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    return batch.unbind()[1]


def breaks(sentence):
    return torch.softmax(sentence, dim=-1)


def alone(sentence):
    return sentence.clone()


@fix("move", "exact", before=alone)
def fixed(sentence):
    """A copy is not a view, and the nested tensor stays outside the graph."""
    return torch.softmax(sentence, dim=-1)
