"""A helper has `@torch.compiler.disable`, because it logged or did not compile in an older release.
Every call of it splits the graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


@torch.compiler.disable(reason="did not compile in an older release")
def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def breaks(x):
    return x.cos() * x + x.sin() * rotate_half(x)


def rotate_half_compiled(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


@fix("rewrite", "exact")
def fixed(x):
    """The helper compiles in this release, so the decorator is removed and Dynamo inlines the
    helper.
    """
    return x.cos() * x + x.sin() * rotate_half_compiled(x)


@torch.library.custom_op("fullgraph_catalog::gb0098", mutates_args=())
def rotate_half_operator(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


@rotate_half_operator.register_fake
def _(x):
    return torch.empty_like(x)


@fix("escape", "exact")
def fixed_with_an_operator(x):
    """A helper that must not be compiled becomes one opaque operator in the graph. Add a backward
    with `register_autograd` if it needs one.
    """
    return x.cos() * x + x.sin() * rotate_half_operator(x)
