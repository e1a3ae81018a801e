"""Gradients of bfloat16 parameters are accumulated in float32 in `.grad` itself, as in
mixed-precision and sharded training. A parameter allows this if its `grad_dtype` is None.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    weight = torch.randn(8, dtype=torch.bfloat16, requires_grad=True)
    weight.grad_dtype = None
    weight.grad = torch.ones(8, dtype=torch.float32)
    return torch.randn(4, 8, dtype=torch.bfloat16), weight


def breaks(x, weight):
    return x * weight


def with_gradient_aside(x, weight):
    weight.main_grad, weight.grad = weight.grad, None
    return x, weight


@fix("move", "narrower", before=with_gradient_aside)
def fixed(x, weight):
    """The float32 sum is stored beside the parameter, and `.grad` holds only the gradient of the
    current step, in the dtype of the parameter. The training loop must add .grad to main_grad after
    each backward, and the optimizer must read main_grad.
    """
    return x * weight
