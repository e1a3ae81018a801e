"""The tensors for `out=(values, indices)` are made empty, `torch.empty(0)`, and left for the
operator to resize.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    values = torch.empty(0)
    indices = torch.empty(0, dtype=torch.long)
    torch.sort(x, dim=-1, out=(values, indices))
    return values, indices


@fix("rewrite", "exact")
def fixed(x):
    """Without out= the operator makes its results in the right size."""
    values, indices = torch.sort(x, dim=-1)
    return values, indices


@fix("rewrite", "exact")
def fixed_with_sized_buffers(x):
    """Buffers that have the right size from the start can be filled in the graph."""
    values = torch.empty_like(x)
    indices = torch.empty_like(x, dtype=torch.long)
    torch.sort(x, dim=-1, out=(values, indices))
    return values, indices
