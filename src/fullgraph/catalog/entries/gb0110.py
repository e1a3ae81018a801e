"""The bounds of `uniform_` come from a configuration and are passed by name, as
`uniform_(**{"from": -0.1, "to": 0.1})`. `from` is a keyword of Python and cannot be written into
the code of a graph.
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
    """By position the same bounds need no name."""
    return x + torch.empty_like(x).uniform_(JITTER["from"], JITTER["to"])
