"""Compiled autograd is enabled, for hooks or for a varying backward pass. The compiled function
itself calls `torch.autograd.grad`, for example for a gradient penalty.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True, "compiled_autograd": True}


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(x):
    energy = torch.sin(x).sum()
    (force,) = torch.autograd.grad(energy, x)
    return force


@fix("setting", "equal", trace_autograd_ops=True, compiled_autograd=False)
def fixed(x):
    """One of the two is enough: with compiled autograd off, the call becomes part of the graph."""
    energy = torch.sin(x).sum()
    (force,) = torch.autograd.grad(energy, x)
    return force


@fix("rewrite", "equal", compiled_autograd=True)
def fixed_with_func(x):
    """Dynamo traces torch.func.grad without the autograd engine, so compiled autograd can stay
    on.
    """
    return torch.func.grad(lambda x: torch.sin(x).sum())(x.detach())
