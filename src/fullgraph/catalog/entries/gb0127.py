"""A scratch tensor is resized in place to the size of another tensor, `scratch.resize_as_(x)`,
before it is filled.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scratch = torch.empty(0)
    scratch.resize_as_(x).copy_(x)
    return scratch.tanh_()


@fix("rewrite", "exact")
def fixed(x):
    """empty_like makes a new tensor of the right size, so no resize is needed."""
    scratch = torch.empty_like(x)
    scratch.copy_(x)
    return scratch.tanh_()
