"""A result is written with `out=` into every other column of a larger buffer, or into a transposed
buffer.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.zeros(4, 16)


def breaks(x, buffer):
    torch.mul(x, 2, out=buffer[:, ::2])
    torch.mul(x, 3, out=buffer[:, 1::2])
    return buffer


@fix("rewrite", "exact")
def fixed(x, buffer):
    """The target of a slice assignment may have any strides."""
    buffer[:, ::2] = x * 2
    buffer[:, 1::2] = x * 3
    return buffer
