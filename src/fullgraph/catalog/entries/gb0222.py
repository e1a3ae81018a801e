"""A set stores tensors, such as the frozen parameters, and the compiled function checks whether a
tensor is in it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

WEIGHT = torch.nn.Parameter(torch.full((8,), 0.5))
FROZEN = {WEIGHT}
FROZEN_BY_TENSOR = {WEIGHT: True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    weight = WEIGHT.detach() if WEIGHT in FROZEN else WEIGHT
    return x * weight


@fix("rewrite", "exact")
def fixed(x):
    """A dict with the tensors as keys supports the same check and has an order that Dynamo can rely
    on.
    """
    weight = WEIGHT.detach() if WEIGHT in FROZEN_BY_TENSOR else WEIGHT
    return x * weight
