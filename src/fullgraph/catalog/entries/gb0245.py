"""A nested tensor is built from the values of a dictionary, a generator or one batched tensor.
Eager mode accepts all of these.
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
    """A list contains its tensors explicitly, so Dynamo can trace the call."""
    batch = torch.nested.nested_tensor(list(sequences.values()), layout=torch.jagged)
    return batch.to_padded_tensor(0.0)
