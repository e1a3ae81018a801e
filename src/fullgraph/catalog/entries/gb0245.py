"""A nested tensor is built from whatever holds the pieces: the values of a dictionary, a generator
or one batched tensor. Eager takes any of them.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return ({"query": torch.randn(2, 8), "document": torch.randn(4, 8)},)


def breaks(sequences):
    batch = torch.nested.nested_tensor(sequences.values(), layout=torch.jagged)
    return batch.to_padded_tensor(0.0)


@fix("rewrite", "exact")
def fixed(sequences):
    """A list has its tensors at hand when the call is traced."""
    batch = torch.nested.nested_tensor(list(sequences.values()), layout=torch.jagged)
    return batch.to_padded_tensor(0.0)
