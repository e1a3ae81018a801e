"""A loss that needs the derivative by its input (physics-informed networks, gradient penalties,
adversarial examples) turns gradients on first: `x.requires_grad_()` for an argument.
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
    """Whether an input needs gradients is a fact about the input: said before the call, it is part
    of what the graph is compiled for.
    """
    return torch.sin(x).square().sum()
