"""A tensor of the wrong size, often `torch.empty(0)`, is passed as `out=` and resized by the
operator.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 3)


def breaks(x, weight):
    result = torch.empty(0)
    torch.mm(x, weight, out=result)
    return result.relu()


@fix("rewrite", "exact")
def fixed(x, weight):
    """Without out= the result is made in the right size; the compiler plans its memory anyway."""
    result = torch.mm(x, weight)
    return result.relu()
