"""A function compiled with `fullgraph=True` contains `torch._dynamo.step_unsupported()`, a
debugging call that requests a break. The option forbids the break, and the caller falls back to
eager mode.
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
    """The call only serves to debug Dynamo and computes nothing, so it can be removed."""
    hidden = torch.relu(x)
    return hidden + 1
