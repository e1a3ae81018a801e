"""The compiled function makes a tensor to optimize, with the flag in the factory call:
`torch.zeros(..., requires_grad=True)`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(image):
    noise = torch.zeros_like(image, requires_grad=True)
    return torch.tanh(image + noise), noise


def with_noise(image):
    return image, torch.zeros_like(image, requires_grad=True)


@fix("move", "exact", before=with_noise)
def fixed(image, noise):
    """The caller makes the tensor, so it is an input of the graph and gets its gradient as
    usual.
    """
    return torch.tanh(image + noise), noise
