"""The compiled function makes a tensor subclass from a list or from sizes. The constructor accepts
the arguments of `torch.Tensor(...)`, but Dynamo supports it for a single tensor only.
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
    """A plain tensor is made first, then the subclass is made from that tensor."""
    tint = Color(torch.tensor([1.0, 0.9, 0.8]))
    return pixels * tint
