"""Code decides by `x.grad_fn is None` whether a tensor comes out of a computation that autograd
follows.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    weight = torch.randn(4, 8, requires_grad=True)
    return weight * 2


def breaks(hidden):
    if hidden.grad_fn is not None:
        hidden = hidden.detach()
    return hidden.mean(dim=-1)


@fix("rewrite", "exact")
def fixed(hidden):
    """requires_grad and is_leaf say the same and are known while tracing."""
    if hidden.requires_grad and not hidden.is_leaf:
        hidden = hidden.detach()
    return hidden.mean(dim=-1)
