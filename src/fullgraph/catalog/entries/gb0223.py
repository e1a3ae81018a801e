"""A helper defined inside a compiled function is decorated with `@torch.compile(...)` and its own
arguments.
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
    """Dynamo compiles the functions that a compiled function calls, so the outermost torch.compile
    is enough.
    """

    def normalize(rows):
        return rows / rows.norm(dim=-1, keepdim=True)

    return normalize(x).relu()
