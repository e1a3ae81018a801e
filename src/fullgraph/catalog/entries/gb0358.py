"""An optimizer's step is compiled and called with a closure that sets the gradients. The optimizer
would set up its state from parameters that are not up to date yet.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True the break that the step itself begins with is reported instead.
BY_DEFAULT = True


class Training:
    weight = None
    optimizer = None


def inputs():
    weight = torch.nn.Parameter(torch.randn(8))
    Training.weight, Training.optimizer = weight, torch.optim.SGD([weight], lr=0.1)
    return weight, torch.randn(8)


def breaks(weight, target):
    def closure():
        error = weight.detach() - target
        weight.grad = 2 * error
        return error.square().sum()

    return Training.optimizer.step(closure)


def step(result):
    gradient, loss = result
    Training.weight.grad = gradient
    Training.optimizer.step()
    return loss


@fix("move", "exact", after=step)
def fixed(weight, target):
    """The graph computes the loss and the gradient; the caller assigns it and takes the step."""
    error = weight.detach() - target
    return 2 * error, error.square().sum()
