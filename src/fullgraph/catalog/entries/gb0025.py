"""A forward contains `torch._dynamo.graph_break()`. The call was added to split the graph while
debugging an error or a slow compilation, and was not removed.
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
    """The call only splits the graph, so it can be removed."""
    hidden = torch.relu(x)
    return hidden * 2 + 1
