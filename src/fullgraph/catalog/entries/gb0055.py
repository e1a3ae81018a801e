"""Noise is drawn from a custom generator, `torch.rand(8, generator=generator)`. A generator cannot
be an argument in the graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.Generator().manual_seed(0)


def breaks(x, generator):
    return x + torch.rand(x.shape, generator=generator)


@fix("move", "exact", before=lambda x, g: (x, torch.rand(x.shape, generator=g)))
def fixed(x, noise):
    """The caller draws the noise before the call and passes it as a tensor."""
    return x + noise
