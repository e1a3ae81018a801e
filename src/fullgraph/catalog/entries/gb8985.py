"""The compiled function makes a tensor, calls `requires_grad_()` on it and returns it or a result
of it. Examples are the start of an attack and a probe added to an activation.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the same reason as GB7324.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(image):
    noise = torch.zeros_like(image).requires_grad_()
    return torch.tanh(image + noise), noise


def with_noise(image):
    return image, torch.zeros_like(image).requires_grad_()


@fix("move", "exact", before=with_noise)
def fixed(image, noise):
    """A leaf of the autograd graph must come from outside. As an input it gets its gradient."""
    return torch.tanh(image + noise), noise
