"""Code inside a custom `with` block breaks the graph. The rest of the block must run under the same
context manager, which Dynamo can re-enter only for a few known managers.
"""

import contextlib

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the break inside the block instead.
BY_DEFAULT = True

sections = []


@contextlib.contextmanager
def section(name):
    sections.append(name)
    try:
        yield
    finally:
        sections.pop()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with section("normalize"):
        scale = x.abs().max().item()
        return x / scale


@fix("rewrite", "exact")
def fixed(x):
    """The scale stays a tensor, so nothing breaks inside and Dynamo traces the whole block."""
    with section("normalize"):
        scale = x.abs().max()
        return x / scale


@fix("move", "exact", before=lambda x: (x, x.abs().max()))
def fixed_by_moving(x, scale):
    """The caller computes the scale before the call, outside the context manager."""
    with section("normalize"):
        return x / scale
