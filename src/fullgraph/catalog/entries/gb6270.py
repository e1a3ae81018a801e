"""Python's `round` is called on a tensor. Tensors do not have the method that it calls."""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scale = 127 / x.abs().max()
    return round(x * scale) / scale


@fix("rewrite", "exact")
def fixed(x):
    """torch.round is the operator for tensors."""
    scale = 127 / x.abs().max()
    return torch.round(x * scale) / scale
