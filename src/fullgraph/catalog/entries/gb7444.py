"""A hook on an activation checks the memory layout of its gradient: `if not grad.is_contiguous()`.
Dynamo traces the hook before any gradient exists.
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
    """contiguous() does the check itself and returns the same tensor if it is already
    contiguous.
    """
    hidden = torch.exp(x)
    hidden.register_hook(lambda grad: grad.contiguous().clamp(-1, 1))
    return hidden.sum()
