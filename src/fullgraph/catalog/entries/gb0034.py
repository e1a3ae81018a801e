"""A helper asserts a property of its input, and its caller catches the AssertionError to take
another path. The assertion fails during tracing, inside a function that is being inlined.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.rand(4, 1)


def luminance(pixels):
    assert pixels.shape[-1] == 3, "three channels, please"
    return pixels @ torch.tensor([0.299, 0.587, 0.114])


def breaks(pixels):
    try:
        return luminance(pixels)
    except AssertionError:
        return pixels.squeeze(-1)


@fix("rewrite", "exact")
def fixed(pixels):
    """The shape is known during tracing, so an ordinary `if` on it costs nothing in the graph."""
    if pixels.shape[-1] == 3:
        return luminance(pixels)
    return pixels.squeeze(-1)
