"""`issubclass` is given an object where a class belongs, `issubclass(x, torch.Tensor)`; what was
meant is `isinstance`.
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
    """`isinstance` asks about the object and is decided while tracing."""
    if isinstance(x, torch.Tensor):
        return x * 2
    return x
