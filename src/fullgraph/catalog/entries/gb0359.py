"""`torch.backends.cuda.SDPAParams` holds the parameters of an attention call, and code reads an
attribute that it does not have, `scale`. Eager mode raises as well.
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
    """The scale is not among the parameters. The code computes it from the size of a head."""
    return x * params.query.shape[-1] ** -0.5
