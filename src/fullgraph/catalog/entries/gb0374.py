"""A graph layer builds its sparse matrix from row pointers, columns and values on every call,
`torch.sparse_csr_tensor(...)`, and multiplies by it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    pointers = torch.tensor([0, 2, 3])
    columns = torch.tensor([0, 2, 1])
    return torch.randn(4, 8), pointers, columns, torch.randn(3)


def breaks(x, pointers, columns, values):
    weights = torch.sparse_csr_tensor(pointers, columns, values, (2, 4))
    return torch.relu(weights @ x)


@fix("rewrite", "equal")
def fixed(x, pointers, columns, values):
    """A product with a sparse matrix is a gather, a scaling and a sum over rows. Each of these is
    an operator on dense tensors.
    """
    rows = torch.repeat_interleave(torch.arange(2), pointers.diff(), output_size=columns.shape[0])
    messages = values[:, None] * x[columns]
    return torch.relu(x.new_zeros(2, x.shape[1]).index_add(0, rows, messages))


def multiply(x, pointers, columns, values):
    return torch.sparse_csr_tensor(pointers, columns, values, (2, 4)) @ x


@fix("move", "exact", before=multiply)
def fixed_by_moving(product):
    """The caller makes and uses the sparse matrix, and the compiled function gets only the dense
    result.
    """
    return torch.relu(product)
