"""A compiled function computes gradients itself, with `torch.autograd.grad`: forces from an energy,
a gradient penalty, a step of an inner loop.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def breaks(positions):
    energy = torch.sin(positions).sum()
    (grad,) = torch.autograd.grad(energy, positions)
    return -grad


@fix("rewrite", "equal")
def fixed(positions):
    """torch.func.grad transforms a function, and Dynamo can trace it. The positions are detached,
    so the result has no history, like the result of torch.autograd.grad.
    """

    def energy(positions):
        return torch.sin(positions).sum()

    return -torch.func.grad(energy)(positions.detach())


@fix("setting", "equal", trace_autograd_ops=True)
def fixed_by_tracing_it(positions):
    """The call itself becomes part of the graph."""
    energy = torch.sin(positions).sum()
    (grad,) = torch.autograd.grad(energy, positions)
    return -grad
