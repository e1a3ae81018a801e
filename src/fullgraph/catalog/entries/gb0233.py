"""Sequences of different lengths are batched as a nested tensor of the default, strided kind. That
kind has no sizes that Dynamo could reason about.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(2, 8), torch.randn(4, 8)


def breaks(short, long):
    batch = torch.nested.nested_tensor([short, long], layout=torch.strided)
    return batch.to_padded_tensor(0.0)


@fix("rewrite", "exact")
def fixed(short, long):
    """The jagged layout keeps one dense buffer and the offsets into it, and is the kind of nested
    tensor that torch.compile supports."""
    batch = torch.nested.nested_tensor([short, long], layout=torch.jagged)
    return batch.to_padded_tensor(0.0)


@fix("rewrite", "exact")
def fixed_by_padding(short, long):
    """Where the padded batch is all that is wanted, ordinary tensors do."""
    return torch.nn.utils.rnn.pad_sequence([short, long], batch_first=True)
