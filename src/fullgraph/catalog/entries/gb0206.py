"""A `forward` freezes or unfreezes a layer: `self.weight.requires_grad = False`."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 3, requires_grad=True)


def breaks(x, weight):
    weight.requires_grad = False
    return torch.relu(x @ weight)


def freeze(x, weight):
    weight.requires_grad = False
    return x, weight


@fix("move", "exact", before=freeze)
def fixed(x, weight):
    """Freeze the weight during setup, before calling the compiled function."""
    return torch.relu(x @ weight)


@fix("rewrite", "narrower")
def fixed_with_detach(x, weight):
    """detach() stops gradients to the weight for this use only and does not change the weight. It
    is equivalent only if no other code relies on the frozen weight.
    """
    return torch.relu(x @ weight.detach())
