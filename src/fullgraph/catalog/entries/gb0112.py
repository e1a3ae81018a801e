"""An operator is called with an argument that it does not have, often one of a similar function.
`torch.relu` has no `inplace`, `torch.nn.functional.relu` does. Eager mode raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = x + 1
    return torch.relu(hidden, inplace=True)


@fix("rewrite", "exact")
def fixed(x):
    """The call uses the function that has this argument."""
    hidden = x + 1
    return torch.nn.functional.relu(hidden, inplace=True)
