"""A compiled function (with `trace_autograd_ops`) computes two gradients through the same
computation, and the first call has already freed it. Eager mode raises as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8), torch.randn(8, requires_grad=True)


def breaks(x, weight):
    logits = torch.tanh(x @ weight)
    (first,) = torch.autograd.grad(logits.sum(), weight)
    (second,) = torch.autograd.grad(logits.square().sum(), weight)
    return first, second


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(x, weight):
    """retain_graph=True keeps the data that the second call needs."""
    logits = torch.tanh(x @ weight)
    (first,) = torch.autograd.grad(logits.sum(), weight, retain_graph=True)
    (second,) = torch.autograd.grad(logits.square().sum(), weight)
    return first, second
