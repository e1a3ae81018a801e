"""Gradients are accumulated in float32 for parameters in bfloat16, in `.grad` itself, which
a parameter allows once its `grad_dtype` is None. Mixed-precision and sharded training do it.
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
    """The sum in float32 lives beside the parameter, and `.grad` is only ever the gradient of the
    step at hand, in the parameter's own type. The training loop has to know: it adds .grad to
    main_grad after each backward, and the optimizer reads main_grad.
    """
    return x * weight
