"""Two tensors are compared by their `id`, to see whether a step returned its input or a copy. What
was made while tracing has no address yet, so the comparison means nothing.
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
    """`is` asks the same question, and Dynamo knows which objects are the same."""
    y = x.relu()
    if y is x:
        y = y.clone()
    return y * 2
