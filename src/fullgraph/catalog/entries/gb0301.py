"""The function of a `map` over the rows of a tensor returns a Python number with its result. The
operator stacks the results of all rows, which must be tensors.
"""

import torch
from torch._higher_order_ops import map as map_rows

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return map_rows(lambda row: (row / row.norm(), row.shape[0]), x)


@fix("rewrite", "exact")
def fixed(x):
    """The number is in a tensor, which can be stacked."""
    return map_rows(lambda row: (row / row.norm(), torch.tensor(row.shape[0])), x)


@fix("rewrite", "exact")
def fixed_outside(x):
    """The number is the same for every row, so it does not need to be mapped."""
    return map_rows(lambda row: row / row.norm(), x), x.shape[1]
