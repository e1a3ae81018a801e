"""`functools.partial` is called with keywords only, `partial(func=torch.add, alpha=2)`. Its
function can only be given by position; eager raises a TypeError.
"""

from functools import partial

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    combine = partial(func=torch.add, alpha=2)
    return combine(x, x)


@fix("rewrite", "exact")
def fixed(x):
    """The function comes first, without a keyword."""
    combine = partial(torch.add, alpha=2)
    return combine(x, x)
