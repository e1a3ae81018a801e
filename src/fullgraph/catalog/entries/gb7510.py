"""The keys of a table are signed `id`s of tensors, plus for inputs and minus for outputs. An object
made during tracing has no address, so its id cannot have a sign.
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
    """A pair of a string and the tensor itself identifies the same entry without an address."""
    y = x.relu()
    table = {("in", y): y.mean()}
    return list(table.values())
