"""A tensor is made in the compiled function, told to require gradients there, and returned or used
in what is returned: the start of an attack, a probe added to an activation.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch gives the same reason another name, GB7324.
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
    """A leaf of autograd's graph has to come from outside; as an input it gets its gradient."""
    return torch.tanh(image + noise), noise
