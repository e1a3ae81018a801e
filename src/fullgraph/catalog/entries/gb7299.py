"""`torch.func.vjp` is called outside and the function that it returns is used in compiled code: the
tensors in its closure lose their history at the border.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def energy(x):
    return torch.sin(x) * x


def inputs():
    x = torch.randn(8)
    _, pullback = torch.func.vjp(energy, x)
    return x, pullback, torch.ones(8)


def breaks(x, pullback, cotangent):
    (grad,) = pullback(cotangent)
    return x - 0.1 * grad


def without_pullback(x, pullback, cotangent):
    return x, cotangent


@fix("rewrite", "equal", before=without_pullback)
def fixed(x, cotangent):
    """Both halves of the transform are in the graph, and nothing crosses its border."""
    _, pullback = torch.func.vjp(energy, x)
    (grad,) = pullback(cotangent)
    return x - 0.1 * grad
