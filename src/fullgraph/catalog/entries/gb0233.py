"""Sequences of different lengths are batched as a nested tensor of the default, strided layout.
Dynamo cannot reason about the sizes of that layout.
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
    """The jagged layout has one dense buffer and offsets into it. torch.compile supports nested
    tensors of this layout.
    """
    batch = torch.nested.nested_tensor([short, long], layout=torch.jagged)
    return batch.to_padded_tensor(0.0)


@fix("rewrite", "exact")
def fixed_by_padding(short, long):
    """If only the padded batch is needed, ordinary tensors are enough."""
    return torch.nn.utils.rnn.pad_sequence([short, long], batch_first=True)
