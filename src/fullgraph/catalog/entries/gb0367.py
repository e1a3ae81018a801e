"""A bare `object()` serves as a sentinel, `DEFAULT = object()`, and is the key of a dictionary. To
look up the entry, Dynamo must compare two such objects, which it does not support.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

DEFAULT = object()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scales = {DEFAULT: 2.0, "wide": 0.5}
    return x * scales[DEFAULT]


@fix("rewrite", "exact")
def fixed(x):
    """None, a string or an enum member is a constant that Dynamo can compare."""
    scales = {None: 2.0, "wide": 0.5}
    return x * scales[None]
