"""A layer has a full backward hook, `register_full_backward_hook`, to log or clip its gradients."""

import torch

from fullgraph.catalog.kit import fix


def halve(module, grad_input, grad_output):
    return tuple(g * 0.5 for g in grad_input)


def halve_one(grad):
    return grad * 0.5


HOOKED = torch.nn.Linear(8, 4)
HOOKED.register_full_backward_hook(halve)


def inputs():
    return torch.randn(2, 8, requires_grad=True)


def breaks(x):
    return HOOKED(x).relu()


@fix("setting", "exact", compiled_autograd=True)
def fixed(x):
    """With compiled autograd the backward pass is traced as well, and the hook with it."""
    return HOOKED(x).relu()
