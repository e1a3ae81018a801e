"""A tensor of the wrong size, often `torch.empty(0)`, is passed as `out=`, and the operator resizes
it.
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
    """Without out= the operator makes a result of the right size. The compiler plans the memory in
    both cases.
    """
    result = torch.mm(x, weight)
    return result.relu()
