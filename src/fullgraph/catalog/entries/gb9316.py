"""Code compares two tensors by `id`, to check whether a step returned its input or a copy. A tensor
made during tracing has no address, so the comparison is meaningless.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x.relu()
    if id(y) == id(x):
        y = y.clone()
    return y * 2


@fix("rewrite", "exact")
def fixed(x):
    """`is` makes the same check, and Dynamo knows which objects are the same."""
    y = x.relu()
    if y is x:
        y = y.clone()
    return y * 2
