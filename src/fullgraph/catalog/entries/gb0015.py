"""A sparse matrix is an input of the compiled function: the adjacency matrix of a graph network, a
bag of words.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    adjacency = (torch.rand(6, 6) > 0.6).float().to_sparse_coo()
    return adjacency, torch.randn(6, 8), torch.randn(8, 4)


def breaks(adjacency, x, weight):
    neighbours = adjacency @ x
    return torch.relu(neighbours @ weight)


def with_product(adjacency, x, weight):
    return adjacency @ x, weight


@fix("move", "exact", before=with_product)
def fixed(neighbours, weight):
    """The sparse product runs before the graph in eager mode, where it is a single kernel. The
    dense part is compiled.
    """
    return torch.relu(neighbours @ weight)


def with_edges(adjacency, x, weight):
    rows, columns = adjacency.indices().clone()
    return rows, columns, adjacency.values().clone(), x, weight


@fix("rewrite", "equal", before=with_edges)
def fixed_with_edges(rows, columns, values, x, weight):
    """Indices and values are dense tensors, and a product with them is a gather and a scatter-add.
    The compiler can fuse these with the surrounding operations. Both tensors are copied, because a
    view of a sparse tensor cannot be an input either.
    """
    neighbours = torch.zeros_like(x).index_add(0, rows, values[:, None] * x[columns])
    return torch.relu(neighbours @ weight)
