"""`torch.empty(...).random_(0, 10)` makes random integers, for negative samples or random
positions. Dynamo does not trace this method.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(10, 8)


def breaks(table):
    positions = torch.empty(4, dtype=torch.int64).random_(0, 10)
    return table[positions]


@fix("rewrite", "exact")
def fixed(table):
    """torch.randint draws the same numbers from the same random stream into a new tensor."""
    positions = torch.randint(0, 10, (4,))
    return table[positions]
