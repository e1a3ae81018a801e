"""The address of a tensor is used in arithmetic, to check an alignment or to make a key:
`x.data_ptr() * 8`. During tracing a tensor has no memory, so its address is not a number.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    address_in_bits = x.data_ptr() * 8
    return x * 2, address_in_bits % 128 == 0


def check_alignment(x):
    return x, x.data_ptr() % 16 == 0


@fix("move", "exact", before=check_alignment)
def fixed(x, aligned):
    """The caller checks the address in eager mode and passes the result."""
    return x * 2, aligned
