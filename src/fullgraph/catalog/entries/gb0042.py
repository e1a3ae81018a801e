"""A repeated block is marked as a region to compile once. The marked object is a
`functools.partial` or a builtin operator, not a Python function.
"""

import functools

import torch

from fullgraph.catalog.fix_decorator import fix

# The region alone runs in eager mode; torch.cond compiles its branches there too.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8)


def block(x, weight, scale):
    return torch.relu(x @ weight) * scale


scaled_block = torch.compiler.nested_compile_region(functools.partial(block, scale=0.5))


def skip(x, weight):
    return x.clone()


def breaks(x, weight):
    return torch.cond(x.norm() > 1.0, scaled_block, skip, (x, weight))


@torch.compiler.nested_compile_region
def half_block(x, weight):
    return block(x, weight, scale=0.5)


@fix("rewrite", "exact")
def fixed(x, weight):
    """A plain function has a code object by which the region is recognized and reused. The function
    passes the argument that the partial bound.
    """
    return torch.cond(x.norm() > 1.0, half_block, skip, (x, weight))
