"""A tensor that was just computed gets other contents by assigning to `.data`, so that autograd
does not see the change: the way weights are clamped or quantized behind its back.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 8, requires_grad=True)


def breaks(x, weight):
    scaled = weight * 2
    scaled.data = scaled.data.clamp(-1, 1)
    return x @ scaled


@fix("rewrite", "exact")
def fixed(x, weight):
    """copy_ under no_grad writes the new values into the same tensor; autograd keeps the history
    that the tensor had."""
    scaled = weight * 2
    with torch.no_grad():
        scaled.copy_(scaled.clamp(-1, 1))
    return x @ scaled


@fix("rewrite", "narrower")
def fixed_by_a_new_tensor(x, weight):
    """The name is bound to a new tensor. Gradients then go through the clamp, and are zero where it
    cuts off: the same only where none are taken, or where that is what was meant."""
    scaled = weight * 2
    scaled = scaled.clamp(-1, 1)
    return x @ scaled
