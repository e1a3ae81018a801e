"""A pipeline passes `GradientEdge`s instead of tensors, to free activations early. A compiled
function (with `trace_autograd_ops`) computes gradients with respect to an edge.
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
    """The tensor can replace its edge. As an input of the graph, it is known to Dynamo."""
    loss = torch.sin(hidden).sum()
    (grad,) = torch.autograd.grad(loss, hidden)
    return grad
