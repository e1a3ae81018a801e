"""A compiled function calls `loss.backward(inputs=[x])` (with `trace_autograd_ops`) for a tensor
that does not require gradients. Usually a `requires_grad_()` is missing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8), torch.randn(8, requires_grad=True)


def breaks(x, weight):
    loss = (x @ weight).square().mean()
    loss.backward(inputs=[x])
    return x.grad


def with_grad(x, weight):
    return x.requires_grad_(), weight


@fix("move", "exact", before=with_grad, trace_autograd_ops=True)
def fixed(x, weight):
    """The tensor must require gradients before the loss is computed."""
    loss = (x @ weight).square().mean()
    loss.backward(inputs=[x])
    return x.grad
