"""A forward calls `torch._dynamo.skip_frame()` to keep itself out of compilation for a while, and
nobody took the call out again: the whole function runs in eager.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    torch._dynamo.skip_frame("debugging the backend")
    hidden = torch.relu(x)
    return hidden * 2 + 1


@fix("rewrite", "exact")
def fixed(x):
    """Without the call the function is compiled like any other."""
    hidden = torch.relu(x)
    return hidden * 2 + 1
