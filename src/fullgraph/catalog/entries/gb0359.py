"""The conditions of an attention call are collected in `torch.backends.cuda.SDPAParams`, and read
back under a name that it does not have: `scale` is not one of them. Eager raises as well.
"""

import torch
from torch.backends.cuda import SDPAParams

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    x = torch.randn(1, 2, 4, 8)
    return x, SDPAParams(x, x, x, None, 0.1, False, False)


def breaks(x, params):
    return x * params.scale


@fix("rewrite", "exact")
def fixed(x, params):
    """The scale is not among the conditions; it follows from the size of a head."""
    return x * params.query.shape[-1] ** -0.5
