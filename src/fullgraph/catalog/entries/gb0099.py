"""A function has `@torch.compiler.disable(recursive=False)`: its body runs in eager mode, while the
functions it calls can be compiled. A compiled function calls it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


@torch.compiler.disable(recursive=False)
def normalize(x):
    return (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)


def breaks(x):
    return torch.relu(normalize(x)) + x


def normalize_inlined(x):
    return (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)


@fix("rewrite", "exact")
def fixed(x):
    """Nothing in the body requires eager mode, so the decorator is removed and Dynamo inlines the
    function.
    """
    return torch.relu(normalize_inlined(x)) + x


@fix("move", "exact", before=lambda x: (x, normalize(x)))
def fixed_by_calling_before(x, normalized):
    """If the body must run in eager mode, the caller runs it and passes the result."""
    return torch.relu(normalized) + x
