"""A perturbation is made inside the compiled function, told to require gradients there, and added
to an activation that is returned, as adversarial training does.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# By default torch gives the same reason another name, GB8985.
STRICT_ONLY = True


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
