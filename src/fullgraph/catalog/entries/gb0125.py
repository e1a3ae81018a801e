"""A loss that needs the derivative with respect to its input calls `x.requires_grad_()` on an
argument: physics-informed networks, gradient penalties, adversarial examples.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    x.requires_grad_()
    return torch.sin(x).square().sum()


def with_grad(x):
    return x.requires_grad_()


@fix("move", "exact", before=with_grad)
def fixed(x):
    """requires_grad is a property of the input. The caller sets it before the call, and Dynamo
    guards on it.
    """
    return torch.sin(x).square().sum()
