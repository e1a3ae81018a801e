"""A compiled function (with `trace_autograd_ops`) calls `loss.backward(inputs=[hidden])`, to get
the gradient of an intermediate tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    return torch.randn(4, 8), torch.randn(8, 3, requires_grad=True)


def breaks(x, weight):
    hidden = torch.tanh(x @ weight)
    loss = hidden.square().mean()
    loss.backward(inputs=[hidden])
    return hidden.grad


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(x, weight):
    """torch.autograd.grad returns the gradient of any tensor, leaf or not, and sets no .grad."""
    hidden = torch.tanh(x @ weight)
    loss = hidden.square().mean()
    (grad,) = torch.autograd.grad(loss, hidden)
    return grad
