"""The function of a `map` over the rows of a tensor returns a Python number along with its result.
The results of all rows are stacked, and that takes tensors.
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
    """A number in a tensor can be stacked like any other result."""
    return map_rows(lambda row: (row / row.norm(), torch.tensor(row.shape[0])), x)


@fix("rewrite", "exact")
def fixed_outside(x):
    """The number is the same for every row, so it need not be mapped at all."""
    return map_rows(lambda row: row / row.norm(), x), x.shape[1]
