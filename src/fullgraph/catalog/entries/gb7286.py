"""A row of a log has only floats, and an intermediate tensor is named in it by `float(id(y))`. What
was made while tracing has no address yet that could become a float.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    y = x.relu()
    rows = {float(id(y)): y.mean(), float(id(x)): x.mean()}
    return list(rows.values())


@fix("rewrite", "exact")
def fixed(x):
    """Counting names the tensors as well, and the numbers mean the same in every run."""
    y = x.relu()
    rows = {float(number): tensor.mean() for number, tensor in enumerate([y, x])}
    return list(rows.values())
