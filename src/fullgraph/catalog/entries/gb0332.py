"""The operator with which exported graphs disable gradients is called directly, with a function
that closes over a weight. All tensors must be arguments.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def breaks(x, weight):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(False, lambda x: x @ weight, x)


@fix("rewrite", "exact")
def fixed(x, weight):
    """The context manager does the same and needs no arguments."""
    with torch.no_grad():
        return x @ weight
