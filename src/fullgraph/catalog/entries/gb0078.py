"""A function that is defined inside the compiled one is wrapped on the spot with
`torch._dynamo.nonstrict_trace`, which wants functions that existed before.
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
    """Defined and marked at module level, the function exists before the compiled one runs."""
    return soft_threshold(x) + 1
