"""The operator with which exported graphs disable gradients is called directly, with a keyword
argument for the wrapped function.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def scale(x, by=1.0):
    return x * by


def breaks(x):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(False, scale, x, by=2.0)


@fix("rewrite", "exact")
def fixed(x):
    """The context manager does the same, and the code inside it is ordinary code."""
    with torch.no_grad():
        return scale(x, by=2.0)
