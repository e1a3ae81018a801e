"""Noise with a generator of one's own, `torch.rand(8, generator=generator)`: the generator is an
object that cannot be put into the graph as an argument.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.Generator().manual_seed(0)


def breaks(x, generator):
    return x + torch.rand(x.shape, generator=generator)


@fix("move", "exact", before=lambda x, g: (x, torch.rand(x.shape, generator=g)))
def fixed(x, noise):
    """The noise is drawn before the compiled function, which gets it as a tensor."""
    return x + noise
