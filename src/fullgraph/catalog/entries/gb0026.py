"""A tensor subclass is made from a list or from sizes in the compiled function. Its constructor
takes all that `torch.Tensor(...)` takes; Dynamo knows it for one tensor only.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Color(torch.Tensor):
    pass


def inputs():
    return torch.rand(4, 3)


def breaks(pixels):
    tint = Color([1.0, 0.9, 0.8])
    return pixels * tint


@fix("rewrite", "exact")
def fixed(pixels):
    """First a tensor, then the subclass around it."""
    tint = Color(torch.tensor([1.0, 0.9, 0.8]))
    return pixels * tint
