"""Tensors are sorted by their address in memory, `key=lambda t: -t.data_ptr()`. During tracing a
tensor has no memory, and its address is a placeholder that does not support negation.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    whole = torch.randn(2, 8)
    return whole[0], whole[1]


def breaks(a, b):
    parts = sorted([a, b], key=lambda t: -t.data_ptr())
    return torch.cat(parts) * 2


def in_order(a, b):
    return tuple(sorted([a, b], key=lambda t: -t.data_ptr()))


@fix("move", "exact", before=in_order)
def fixed(first, second):
    """Addresses exist before the call of the compiled function, so the caller compares them."""
    return torch.cat([first, second]) * 2
