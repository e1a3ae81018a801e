"""An input is reshaped in place, `x.transpose_(0, 1)` or `x.unsqueeze_(0)`. This changes the
metadata of the caller's tensor, which a graph cannot do.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    x.transpose_(0, 1)
    weights = x.softmax(dim=0)
    x.transpose_(0, 1)
    return weights


@fix("rewrite", "exact")
def fixed(x):
    """The method without the underscore returns a view: it copies nothing, and the caller's tensor
    does not change.
    """
    return x.transpose(0, 1).softmax(dim=0)
