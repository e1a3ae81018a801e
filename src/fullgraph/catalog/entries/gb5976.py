"""Code detects tied weights by comparing addresses: `head.data_ptr() == embedding.data_ptr()`."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(16, 8), torch.randn(16, 8), torch.randn(2, 8)


def breaks(embedding, head, x):
    if embedding.data_ptr() == head.data_ptr():
        return x @ embedding.T * 8**-0.5
    return x @ head.T


@fix("rewrite", "narrower")
def fixed(embedding, head, x):
    """Tied weights are the same object, and Dynamo knows during tracing whether two arguments are
    the same object. Two different tensors that share memory count as different.
    """
    if embedding is head:
        return x @ embedding.T * 8**-0.5
    return x @ head.T


def compare(embedding, head, x):
    return embedding, head, x, embedding.data_ptr() == head.data_ptr()


@fix("move", "exact", before=compare)
def fixed_outside(embedding, head, x, tied):
    """The caller compares the addresses and passes the result as a bool."""
    if tied:
        return x @ embedding.T * 8**-0.5
    return x @ head.T
