"""A function selects one of its nested functions and later checks which one, `step == center`. The
functions exist only during tracing, and Dynamo cannot tell whether they are the same object.
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
    """A bool stores the choice, and Dynamo can compare it."""
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
