"""The compiled function defines an inner function and wraps it with
`torch._dynamo.nonstrict_trace`. That decorator requires a function that exists before tracing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def soft_threshold(a):
        return torch.sign(a) * torch.relu(a.abs() - 0.1)

    return torch._dynamo.nonstrict_trace(soft_threshold)(x) + 1


@torch._dynamo.nonstrict_trace
def soft_threshold(a):
    return torch.sign(a) * torch.relu(a.abs() - 0.1)


@fix("rewrite", "exact")
def fixed(x):
    """The function is defined and marked at module level, so it exists before tracing."""
    return soft_threshold(x) + 1
