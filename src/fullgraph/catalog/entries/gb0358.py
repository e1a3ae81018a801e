"""A compiled optimizer step is called with a closure that sets the gradients. The optimizer would
initialize its state from parameters that are not up to date.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the break at the start of the step instead.
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
    """The graph computes the loss and the gradient. The caller assigns the gradient and calls the
    optimizer.
    """
    error = weight.detach() - target
    return 2 * error, error.square().sum()
