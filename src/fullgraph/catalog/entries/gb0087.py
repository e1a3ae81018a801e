"""A custom operator has a fake implementation that covers only some cases. It raises
`NotImplementedError` for the others, which the real implementation supports.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


@torch.library.custom_op("fullgraph_catalog::gb0087", mutates_args=())
def unit_rows(x: torch.Tensor) -> torch.Tensor:
    return x / x.norm(dim=-1, keepdim=True)


@unit_rows.register_fake
def _(x):
    if x.dim() != 3:
        raise NotImplementedError("only batches of matrices")
    return torch.empty_like(x)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return unit_rows(x) + 1


@torch.library.custom_op("fullgraph_catalog::gb0087_complete", mutates_args=())
def unit_rows_complete(x: torch.Tensor) -> torch.Tensor:
    return x / x.norm(dim=-1, keepdim=True)


@unit_rows_complete.register_fake
def _(x):
    return torch.empty_like(x)


@fix("rewrite", "exact")
def fixed(x):
    """The fake implementation describes the result for every input that the operator accepts."""
    return unit_rows_complete(x) + 1
