"""A nested tensor holds a batch of sequences of different lengths and has the default layout of
`torch.nested`.
"""

import warnings

import torch

from fullgraph.catalog.fix_decorator import fix

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns that nested tensors are a prototype
    PARTS = [torch.arange(6.0).reshape(2, 3), torch.arange(9.0).reshape(3, 3)]
    SENTENCES = torch.nested.nested_tensor(PARTS)
    SENTENCES_JAGGED = torch.nested.nested_tensor(PARTS, layout=torch.jagged)


def inputs():
    return torch.randn(5, 3)


def breaks(weight):
    hidden = torch.nn.functional.linear(SENTENCES, weight)
    return torch.nested.to_padded_tensor(hidden, 0.0)


@fix("rewrite", "equal")
def fixed(weight):
    """torch.compile supports nested tensors with layout=torch.jagged."""
    hidden = torch.nn.functional.linear(SENTENCES_JAGGED, weight)
    return torch.nested.to_padded_tensor(hidden, 0.0)
