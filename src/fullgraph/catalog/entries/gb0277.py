"""The compiled function converts an adjacency matrix, or another matrix with few entries, to a
sparse tensor. Dynamo cannot represent a sparse tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.eye(4).roll(1, dims=0)


def breaks(x, adjacency):
    return torch.relu(adjacency.to_sparse() @ x)


@fix("rewrite", "equal")
def fixed(x, adjacency):
    """The dense product is one operator that the compiler supports. At the sizes of a batch it is
    often faster too.
    """
    return torch.relu(adjacency @ x)


def multiply(x, adjacency):
    return adjacency.to_sparse() @ x


@fix("move", "exact", before=multiply)
def fixed_by_moving(product):
    """The caller computes the sparse product, and the compiled function gets only its dense
    result.
    """
    return torch.relu(product)
