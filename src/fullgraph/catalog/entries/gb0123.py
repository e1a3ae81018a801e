"""A whole training step is compiled, forward and `loss.backward()` in one function."""

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
    """Compile the computation of the loss and call backward outside: the backward pass of a
    compiled graph is compiled with it.
    """
    return (x @ weight - target).square().mean(), weight


@fix("setting", "equal", trace_autograd_ops=True)
def fixed_by_tracing_it(x, target, weight):
    """Dynamo then writes backward into the graph, as torch.autograd.grad and an addition to the
    .grad of each leaf.
    """
    loss = (x @ weight - target).square().mean()
    loss.backward()
    return loss.detach(), weight.grad
