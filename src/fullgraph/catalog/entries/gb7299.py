"""`torch.func.vjp` is called outside, and compiled code uses the function that it returns. The
tensors in its closure lose their history when they enter compiled code.
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
    """Both parts of the transform are in the graph, so no closure is passed into it."""
    _, pullback = torch.func.vjp(energy, x)
    (grad,) = pullback(cotangent)
    return x - 0.1 * grad
