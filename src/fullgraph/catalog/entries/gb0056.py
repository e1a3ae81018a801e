"""An assignment to `.data` replaces the contents of a computed tensor without autograd recording
the change, for example to clamp or quantize weights.
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
    """copy_ under no_grad writes the new values into the same tensor. The autograd history of the
    tensor does not change.
    """
    scaled = weight * 2
    with torch.no_grad():
        scaled.copy_(scaled.clamp(-1, 1))
    return x @ scaled


@fix("rewrite", "narrower")
def fixed_by_a_new_tensor(x, weight):
    """The name is bound to a new tensor. Gradients then flow through the clamp and are zero where
    it clips. Use it if no gradient is taken, or if that gradient is intended.
    """
    scaled = weight * 2
    scaled = scaled.clamp(-1, 1)
    return x @ scaled
