"""`torch._dynamo.step_unsupported()`, a debugging call, was left in a function that is compiled
with `fullgraph=True`. It asks for a break, which is forbidden here; the caller falls back to eager.
"""

import torch
from torch._dynamo.exc import Unsupported

from fullgraph.catalog.fix_decorator import fix


def normalize(x):
    hidden = torch.relu(x)
    torch._dynamo.step_unsupported()
    return hidden + 1


normalize_compiled = torch.compile(normalize, backend="eager", fullgraph=True)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    try:
        return normalize_compiled(x)
    except Unsupported:
        return normalize(x)


@fix("rewrite", "exact")
def fixed(x):
    """The call is for debugging Dynamo only and computes nothing, so it can go."""
    hidden = torch.relu(x)
    return hidden + 1
