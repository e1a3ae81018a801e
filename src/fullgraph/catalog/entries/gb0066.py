"""Something breaks the graph inside of a `with` block of one's own. The rest of the block would
have to run under the same context manager, which Dynamo can set up again for a few known ones only.
"""

import contextlib

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports what broke inside of the block.
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
    """Without the break inside, the block is traced as a whole: the scale stays a tensor."""
    with section("normalize"):
        scale = x.abs().max()
        return x / scale


@fix("move", "exact", before=lambda x: (x, x.abs().max()))
def fixed_by_moving(x, scale):
    """What breaks is done before the block, and so outside of the context manager."""
    with section("normalize"):
        return x / scale
