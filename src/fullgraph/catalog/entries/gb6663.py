"""`torch.autograd.grad(loss, model.parameters())` in a compiled function (with
`trace_autograd_ops`): what is passed is an iterator, not a sequence.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    return torch.nn.Linear(8, 1), torch.randn(4, 8)


def breaks(model, x):
    loss = model(x).square().mean()
    return torch.autograd.grad(loss, model.parameters())


@fix("rewrite", "exact", trace_autograd_ops=True)
def fixed(model, x):
    """A list of the same parameters can be looked into."""
    loss = model(x).square().mean()
    return torch.autograd.grad(loss, list(model.parameters()))
