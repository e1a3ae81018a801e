"""`tolist()` converts statistics of the activations to Python numbers for a loop. Dynamo can
capture integers from a tensor this way, but not floats.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    means = x.mean(dim=0).tolist()
    columns = [x[:, i] - mean for i, mean in enumerate(means)]
    return torch.stack(columns, dim=1)


@fix("rewrite", "equal")
def fixed(x):
    """The means stay in a tensor, and broadcasting replaces the loop."""
    return x - x.mean(dim=0)
