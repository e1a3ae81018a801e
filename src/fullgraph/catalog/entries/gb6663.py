"""A compiled function (with `trace_autograd_ops`) calls `torch.autograd.grad(loss,
model.parameters())`. The second argument is an iterator, not a sequence.
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
    """A list of the same parameters is a sequence that Dynamo can read."""
    loss = model(x).square().mean()
    return torch.autograd.grad(loss, list(model.parameters()))
