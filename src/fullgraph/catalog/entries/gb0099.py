"""A function is marked `@torch.compiler.disable(recursive=False)`, so that its own body runs in
eager while what it calls may be compiled, and a compiled function calls it.
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
    """Nothing in the body needs eager, so without the decorator it is inlined into the graph."""
    return torch.relu(normalize_inlined(x)) + x


@fix("move", "exact", before=lambda x: (x, normalize(x)))
def fixed_by_calling_before(x, normalized):
    """Where the body has to stay in eager, the caller runs it and hands over the result."""
    return torch.relu(normalized) + x
