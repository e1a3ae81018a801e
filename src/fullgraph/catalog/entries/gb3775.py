"""The address of a tensor is converted to a number with `int(x.data_ptr())`, to check an alignment.
During tracing a tensor has no memory, so no address can be converted.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    aligned = int(x.data_ptr()) % 16 == 0
    return x * 2, aligned


def check_alignment(x):
    return x, int(x.data_ptr()) % 16 == 0


@fix("move", "exact", before=check_alignment)
def fixed(x, aligned):
    """The caller checks the address in eager mode and passes the result."""
    return x * 2, aligned
