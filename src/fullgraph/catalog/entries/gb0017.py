"""The operator behind reusable regions is called directly, `invoke_subgraph(block, "block", x)`. It
expects a graph made by the compiler, not a function.
"""

import torch
from torch._higher_order_ops import invoke_subgraph

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def block(x, weight):
    return (torch.relu(x @ weight),)


def breaks(x, weight):
    for _ in range(3):
        (x,) = invoke_subgraph(block, "block", x, weight)
    return x


region = torch.compiler.nested_compile_region(block)


@fix("rewrite", "exact")
def fixed(x, weight):
    """nested_compile_region marks a function as a region. The compiler then makes the graph and the
    call.
    """
    for _ in range(3):
        (x,) = region(x, weight)
    return x
