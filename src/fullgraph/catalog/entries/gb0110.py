"""The bounds of `uniform_` come from a configuration and are passed by name, `uniform_(**{"from":
-0.1, "to": 0.1})`. `from` is a Python keyword, so the code of a graph cannot contain it as a name.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

JITTER = {"from": -0.1, "to": 0.1}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x + torch.empty_like(x).uniform_(**JITTER)


@fix("rewrite", "exact")
def fixed(x):
    """The bounds are passed by position, without names."""
    return x + torch.empty_like(x).uniform_(JITTER["from"], JITTER["to"])
