"""Several results are written with `out=(values, indices)` into columns of larger buffers."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.zeros(4, 2), torch.zeros(4, 2, dtype=torch.long)


def breaks(x, values, indices):
    torch.max(x, dim=1, out=(values[:, 0], indices[:, 0]))
    torch.min(x, dim=1, out=(values[:, 1], indices[:, 1]))
    return values, indices


@fix("rewrite", "exact")
def fixed(x, values, indices):
    """The results are new tensors, which are assigned to the columns."""
    values[:, 0], indices[:, 0] = torch.max(x, dim=1)
    values[:, 1], indices[:, 1] = torch.min(x, dim=1)
    return values, indices
