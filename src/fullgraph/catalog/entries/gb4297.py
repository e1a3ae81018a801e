"""A forward calls `torch._dynamo.skip_frame()` to exclude itself from compilation temporarily, and
the call was not removed. The whole function runs in eager mode.
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
    """Without the call Dynamo compiles the function."""
    hidden = torch.relu(x)
    return hidden * 2 + 1
