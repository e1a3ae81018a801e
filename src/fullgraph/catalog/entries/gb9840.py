"""The message of a `torch._check` is a function defined elsewhere and shared by several checks."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def _message():
    return "the width has to be even"


def breaks(x):
    torch._check(x.shape[1] % 2 == 0, _message)
    return x.unflatten(1, (2, -1)).sum(dim=1)


@fix("rewrite", "exact")
def fixed(x):
    """A lambda in the call belongs to the compiled region. It can get its string from anywhere."""
    torch._check(x.shape[1] % 2 == 0, lambda: _message())
    return x.unflatten(1, (2, -1)).sum(dim=1)
