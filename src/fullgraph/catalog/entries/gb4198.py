"""`copy.deepcopy(x)` protects a tensor from later in-place mutation. Often the tensor is inside a
dict or a module that is copied.
"""

import copy

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    original = copy.deepcopy(x)
    x.mul_(2)
    return x - original


@fix("rewrite", "exact")
def fixed(x):
    """clone() copies the values as an operator of the graph."""
    original = x.clone()
    x.mul_(2)
    return x - original
