"""`functools.partial` is called with keywords only, `partial(func=torch.add, alpha=2)`. The
function must be a positional argument, so eager mode raises a TypeError.
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
    """The function is the first positional argument."""
    combine = partial(torch.add, alpha=2)
    return combine(x, x)
