"""Settings in a `SimpleNamespace` are compared with those of the last call to detect changes. The
comparison of that class is written in C.
"""

from types import SimpleNamespace

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), SimpleNamespace(scale=2.0), SimpleNamespace(scale=2.0)


def breaks(x, settings, last):
    if settings == last:
        return x * settings.scale
    return x


@fix("rewrite", "exact")
def fixed(x, settings, last):
    """Dynamo traces the comparison of the attribute dictionaries, which gives the same result."""
    if vars(settings) == vars(last):
        return x * settings.scale
    return x
