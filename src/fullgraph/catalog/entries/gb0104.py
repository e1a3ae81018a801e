"""Code checks `x.grad_fn is None` to decide whether autograd recorded the computation of a
tensor.
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
    """requires_grad and is_leaf give the same answer and are known during tracing."""
    if hidden.requires_grad and not hidden.is_leaf:
        hidden = hidden.detach()
    return hidden.mean(dim=-1)
