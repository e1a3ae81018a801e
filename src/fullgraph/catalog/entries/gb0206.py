"""A layer is frozen or thawed on the way through `forward`: `self.weight.requires_grad = False`."""

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
    """Freeze where the model is set up, before the compiled function is called."""
    return torch.relu(x @ weight)


@fix("rewrite", "narrower")
def fixed_with_detach(x, weight):
    """detach() keeps gradients out of the weight for this one use and leaves the weight as it is.
    It is the same only where nothing else relies on the weight itself being frozen.
    """
    return torch.relu(x @ weight.detach())
