"""A pipeline hands `GradientEdge`s around instead of tensors, to free activations early, and a
compiled function (with `trace_autograd_ops`) takes gradients by one.
"""

import torch
from torch.autograd.graph import get_gradient_edge

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"trace_autograd_ops": True}


def inputs():
    hidden = torch.randn(4, 8, requires_grad=True) * 2
    return hidden, get_gradient_edge(hidden)


def breaks(hidden, edge):
    loss = torch.sin(hidden).sum()
    (grad,) = torch.autograd.grad(loss, edge)
    return grad


def without_edge(hidden, edge):
    return hidden


@fix("rewrite", "exact", before=without_edge, trace_autograd_ops=True)
def fixed(hidden):
    """The tensor stands for its own edge, and as an input of the graph it is known to Dynamo."""
    loss = torch.sin(hidden).sum()
    (grad,) = torch.autograd.grad(loss, hidden)
    return grad
