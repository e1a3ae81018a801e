"""Somebody put `torch._dynamo.graph_break()` into a forward to split the graph while hunting a bug
or a slow compile, and the call stayed behind.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = torch.relu(x)
    torch._dynamo.graph_break()
    return hidden * 2 + 1


@fix("rewrite", "exact")
def fixed(x):
    """The call does nothing but split the graph, so it can go."""
    hidden = torch.relu(x)
    return hidden * 2 + 1
