"""A layer has a full backward hook, `register_full_backward_hook`, to log, scale or clip its
gradients.
"""

import copy

import torch

from fullgraph.catalog.fix_decorator import fix


def halve(module, grad_input, grad_output):
    return tuple(g * 0.5 for g in grad_input)


def halve_gradient(grad):
    return grad * 0.5


hooked = torch.nn.Linear(8, 4)
plain = copy.deepcopy(hooked)
hooked.register_full_backward_hook(halve)


def inputs():
    return torch.randn(2, 8, requires_grad=True)


def breaks(x):
    return hooked(x).relu()


@fix("setting", "exact", compiled_autograd=True)
def fixed(x):
    """Compiled autograd also traces the backward pass, including the hook."""
    return hooked(x).relu()


@fix("rewrite", "exact")
def fixed_with_tensor_hook(x):
    """A hook on the input of the layer gets the same gradient, and Dynamo traces it with the
    forward. The view keeps the hook off the caller's tensor.
    """
    x = x.view_as(x)
    x.register_hook(halve_gradient)
    return plain(x).relu()
