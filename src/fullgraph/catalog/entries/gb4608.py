"""A function picks one of its nested functions and later asks which one it was, `step == center`.
They exist only while tracing, and Dynamo cannot tell whether they are the same object.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    mean = x.mean()

    def center(a):
        return a - mean

    def scale(a):
        return a / mean

    step = scale if x.dim() == 2 else center
    out = step(x)
    if step == center:
        out = out + 1
    return out


@fix("rewrite", "exact")
def fixed(x):
    """The choice is kept as a bool, which Python can compare at any time."""
    mean = x.mean()

    def center(a):
        return a - mean

    def scale(a):
        return a / mean

    centered = x.dim() != 2
    out = center(x) if centered else scale(x)
    if centered:
        out = out + 1
    return out
