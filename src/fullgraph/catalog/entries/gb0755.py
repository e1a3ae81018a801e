"""Tensors are put in order by where they lie in memory, `key=lambda t: -t.data_ptr()`. While
tracing there is no memory yet, and the address is a placeholder without a minus.
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
    """Addresses exist before the compiled function is called, so that is where they can be
    compared."""
    return torch.cat([first, second]) * 2
