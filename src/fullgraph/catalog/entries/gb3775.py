"""The address of a tensor is turned into a number with `int(x.data_ptr())`, to check an alignment.
While tracing there is no memory, so there is nothing to convert.
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
    """The caller, in eager, looks at the address and hands over the answer."""
    return x * 2, aligned
