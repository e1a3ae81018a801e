"""The operator with which exported graphs enter autocast is called directly, with a function that
closes over a weight. All tensors must be arguments.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def breaks(x, weight):
    return torch.ops.higher_order.wrap_with_autocast(
        "cpu", torch.bfloat16, True, True, lambda x: x @ weight, x
    )


@fix("rewrite", "exact")
def fixed(x, weight):
    """The context manager does the same, and the code inside it may use any tensor."""
    with torch.autocast("cpu", torch.bfloat16):
        return x @ weight
