"""Entries of a table are keyed by the signed `id` of a tensor, plus for what goes in and minus for
what comes out. What was made while tracing has no address yet, so it cannot have a sign either.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x.relu()
    table = {+id(y): y.mean()}
    return list(table.values())


@fix("rewrite", "exact")
def fixed(x):
    """A pair of a word and the tensor itself says the same without an address."""
    y = x.relu()
    table = {("in", y): y.mean()}
    return list(table.values())
