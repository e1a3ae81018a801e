"""An adjacency matrix, or another one with few entries, is turned into a sparse tensor inside the
compiled function. Dynamo has no variable for a sparse tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.eye(4).roll(1, dims=0)


def breaks(x, adjacency):
    return torch.relu(adjacency.to_sparse() @ x)


@fix("rewrite", "equal")
def fixed(x, adjacency):
    """The dense product is one call that the compiler knows. At the sizes of a batch it is often
    the faster one too."""
    return torch.relu(adjacency @ x)


def multiply(x, adjacency):
    return adjacency.to_sparse() @ x


@fix("move", "exact", before=multiply)
def fixed_by_moving(product):
    """The sparse product is done before the compiled function, which sees only its dense
    result."""
    return torch.relu(product)
