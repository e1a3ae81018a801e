"""A bare `object()` serves as a sentinel, `DEFAULT = object()`, and is used as the key of a
dictionary. To find the entry again Dynamo would have to compare two such objects.
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
    """None (or a string, or a member of an enum) is a constant whose equality is known."""
    scales = {None: 2.0, "wide": 0.5}
    return x * scales[None]
