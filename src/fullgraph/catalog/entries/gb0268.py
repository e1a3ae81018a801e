"""`itertools.product` is called with a keyword that it does not have, `repeats` instead of
`repeat`. Eager mode raises as well.
"""

import itertools

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    for flip, shift in itertools.product((0, 1), repeats=2):
        x = x.flip(flip).roll(shift, dims=0)
    return x


@fix("rewrite", "exact")
def fixed(x):
    """The correct keyword is repeat."""
    for flip, shift in itertools.product((0, 1), repeat=2):
        x = x.flip(flip).roll(shift, dims=0)
    return x
