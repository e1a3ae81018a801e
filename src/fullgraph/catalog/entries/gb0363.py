"""A function makes its own `torch.Generator` to draw noise reproducibly. A graph has no operation
that makes such an object.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    generator = torch.Generator()
    generator.manual_seed(0)
    return x + torch.rand(x.shape, generator=generator)


def draw(x):
    generator = torch.Generator()
    generator.manual_seed(0)
    return x, torch.rand(x.shape, generator=generator)


@fix("move", "exact", before=draw)
def fixed(x, noise):
    """The caller draws the noise before the call and passes it as a tensor."""
    return x + noise
