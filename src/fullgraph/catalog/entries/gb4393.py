"""`issubclass` gets an object instead of a class, `issubclass(x, torch.Tensor)`. The intended
function is `isinstance`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if issubclass(x, torch.Tensor):
        return x * 2
    return x


@fix("rewrite", "exact")
def fixed(x):
    """`isinstance` checks the object, and its result is known during tracing."""
    if isinstance(x, torch.Tensor):
        return x * 2
    return x
