"""A whole training step is compiled: one function contains the forward and `loss.backward()`."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(16, 8), torch.randn(16), torch.randn(8, requires_grad=True)


def breaks(x, target, weight):
    loss = (x @ weight - target).square().mean()
    loss.backward()
    return loss.detach(), weight.grad


def step(result):
    loss, weight = result
    loss.backward()
    return loss.detach(), weight.grad


@fix("move", "exact", after=step)
def fixed(x, target, weight):
    """Compile the computation of the loss and call backward outside. The backward pass of a
    compiled graph is compiled too.
    """
    return (x @ weight - target).square().mean(), weight


@fix("setting", "equal", trace_autograd_ops=True)
def fixed_by_tracing_it(x, target, weight):
    """Dynamo then captures backward in the graph, as torch.autograd.grad and an addition to the
    .grad of each leaf.
    """
    loss = (x @ weight - target).square().mean()
    loss.backward()
    return loss.detach(), weight.grad
