"""The compiled function seeds a random generator, to get the same noise each time. This changes
state outside the graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.Generator()


def breaks(x, generator):
    generator.manual_seed(0)
    return x + torch.rand(x.shape, generator=generator)


def draw(x, generator):
    generator.manual_seed(0)
    return x, torch.rand(x.shape, generator=generator)


@fix("move", "exact", before=draw)
def fixed(x, noise):
    """The caller draws the noise before the call and passes it as a tensor."""
    return x + noise
