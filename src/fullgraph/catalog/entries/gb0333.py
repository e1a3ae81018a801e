"""The operator with which exported graphs enter autocast is called directly, with a keyword
argument for the wrapped function.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def project(x, weight, scale=1.0):
    return x @ weight * scale


def breaks(x, weight):
    return torch.ops.higher_order.wrap_with_autocast(
        "cpu", torch.bfloat16, True, True, project, x, weight, scale=2.0
    )


@fix("rewrite", "exact")
def fixed(x, weight):
    """The context manager does the same, and the code inside it is ordinary code."""
    with torch.autocast("cpu", torch.bfloat16):
        return project(x, weight, scale=2.0)
