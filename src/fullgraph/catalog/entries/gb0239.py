"""A class is registered with pytree, and its flatten function returns an ordinary object as the
context. For a `torch._dynamo.nonstrict_trace` function the context must be constant.
"""

from typing import NamedTuple

import torch
from torch.utils import _pytree as pytree

from fullgraph.catalog.fix_decorator import fix


class Layout:
    def __init__(self, heads):
        self.heads = heads


class Heads:
    def __init__(self, values, layout):
        self.values = values
        self.layout = layout


pytree.register_pytree_node(
    Heads,
    lambda heads: ([heads.values], heads.layout),
    lambda children, layout: Heads(children[0], layout),
)


def inputs():
    return torch.randn(4, 8)


@torch._dynamo.nonstrict_trace
def split(heads):
    return heads.values.unflatten(-1, (heads.layout.heads, -1))


LAYOUT = Layout(2)


def breaks(x):
    return split(Heads(x, LAYOUT)).sum(dim=-1)


class PlainHeads:
    def __init__(self, values, heads):
        self.values = values
        self.heads = heads


pytree.register_pytree_node(
    PlainHeads,
    lambda heads: ([heads.values], heads.heads),
    lambda children, heads: PlainHeads(children[0], heads),
)


@torch._dynamo.nonstrict_trace
def split_plain(heads):
    return heads.values.unflatten(-1, (heads.heads, -1))


@fix("rewrite", "exact")
def fixed(x):
    """The context is a plain number, which Dynamo can rebuild and compare."""
    return split_plain(PlainHeads(x, LAYOUT.heads)).sum(dim=-1)


class HeadsTuple(NamedTuple):
    values: torch.Tensor
    heads: int


@fix("rewrite", "exact")
def fixed_with_a_tuple(x):
    """A named tuple needs no registration."""
    return split_plain(HeadsTuple(x, LAYOUT.heads)).sum(dim=-1)
