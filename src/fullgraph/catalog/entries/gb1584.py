"""Functions are registered under their `repr`, and one of them closes over a tensor computed just
before. To compute the repr, Dynamo must make the real function, but the tensor has no value during
tracing.
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
    """The name identifies the function too and does not depend on an address or on the closure."""
    scale = x.abs().max()

    def normalize(t):
        return t / scale

    steps = {normalize.__name__: normalize}
    for step in steps.values():
        x = step(x)
    return x
