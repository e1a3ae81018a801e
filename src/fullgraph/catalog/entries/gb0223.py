"""A helper that is defined inside of a compiled function carries a `@torch.compile(...)` with
arguments of its own.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    @torch.compile(backend="eager")
    def normalize(rows):
        return rows / rows.norm(dim=-1, keepdim=True)

    return normalize(x).relu()


@fix("rewrite", "exact")
def fixed(x):
    """What a compiled function calls is compiled with it; the outermost torch.compile is enough."""

    def normalize(rows):
        return rows / rows.norm(dim=-1, keepdim=True)

    return normalize(x).relu()
