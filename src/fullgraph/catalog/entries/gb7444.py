"""A hook on an activation looks at how its gradient lies in memory: `if not grad.is_contiguous()`.
Dynamo traces the hook long before there is a gradient.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8, requires_grad=True)


def clip(grad):
    if not grad.is_contiguous():
        grad = grad.contiguous()
    return grad.clamp(-1, 1)


def breaks(x):
    hidden = torch.exp(x)
    hidden.register_hook(clip)
    return hidden.sum()


@fix("rewrite", "exact")
def fixed(x):
    """contiguous() looks for itself, and costs nothing where there is nothing to do."""
    hidden = torch.exp(x)
    hidden.register_hook(lambda grad: grad.contiguous().clamp(-1, 1))
    return hidden.sum()
