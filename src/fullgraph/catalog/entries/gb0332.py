"""The operator with which exported graphs switch gradients off is called by hand, with a function
that closes over a weight. It takes all its tensors as arguments.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def breaks(x, weight):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(False, lambda x: x @ weight, x)


@fix("rewrite", "exact")
def fixed(x, weight):
    """The context manager does the same job and has no arguments to get wrong."""
    with torch.no_grad():
        return x @ weight
