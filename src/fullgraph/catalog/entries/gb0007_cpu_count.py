"""A forward asks the operating system: how many processors there are, or whether a file exists.
Dynamo does not trace the C functions behind `os`.
"""

import os

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`os.cpu_count`, `os.path.exists`"

CHUNKS = max(1, min(4, os.cpu_count() or 1))


def inputs():
    return torch.randn(8, 8)


def breaks(x):
    chunks = max(1, min(4, os.cpu_count() or 1))
    return torch.cat([part.softmax(dim=-1) for part in x.chunk(chunks)])


@fix("move", "exact")
def fixed(x):
    """The answer never changes while the program runs, so it is a constant of the module."""
    return torch.cat([part.softmax(dim=-1) for part in x.chunk(CHUNKS)])
