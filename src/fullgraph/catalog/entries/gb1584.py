"""Functions are registered under their `repr`, and one of them is a local function that closes over
a tensor computed just before. For the repr Dynamo would have to make the function for real, and the
tensor has no value yet.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scale = x.abs().max()

    def normalize(t):
        return t / scale

    steps = {repr(normalize): normalize}
    for step in steps.values():
        x = step(x)
    return x


@fix("rewrite", "exact")
def fixed(x):
    """The name says as much as the repr and does not depend on an address or on the closure."""
    scale = x.abs().max()

    def normalize(t):
        return t / scale

    steps = {normalize.__name__: normalize}
    for step in steps.values():
        x = step(x)
    return x
