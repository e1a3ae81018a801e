"""A scratch buffer starts empty and is resized in place to the size of the batch with
`buffer.resize_(...)`, as in older code.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    buffer = x.new_empty(0)
    buffer.resize_(x.shape)
    buffer.copy_(x)
    return buffer.clamp_(min=0)


@fix("rewrite", "exact")
def fixed(x):
    """A tensor made with its final size needs no resize. The compiler already reuses memory."""
    buffer = x.new_empty(x.shape)
    buffer.copy_(x)
    return buffer.clamp_(min=0)
