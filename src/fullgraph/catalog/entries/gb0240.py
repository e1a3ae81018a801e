"""The tensors for `out=(values, indices)` are empty, `torch.empty(0)`, so that the operator resizes
them.
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
    """Without out= the operator makes results of the right size."""
    values, indices = torch.sort(x, dim=-1)
    return values, indices


@fix("rewrite", "exact")
def fixed_with_sized_buffers(x):
    """The graph can fill buffers that have the right size from the start."""
    values = torch.empty_like(x)
    indices = torch.empty_like(x, dtype=torch.long)
    torch.sort(x, dim=-1, out=(values, indices))
    return values, indices
