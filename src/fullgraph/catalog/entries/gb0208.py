"""A setting of torch that is a plain number, such as `torch.get_num_threads()`, is read inside of
the compiled function and decides how the work is split.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    pieces = x.chunk(torch.get_num_threads())
    return torch.cat([piece.softmax(dim=-1) for piece in pieces])


@fix("move", "exact", before=lambda x: (x, torch.get_num_threads()))
def fixed(x, threads):
    """Read before and passed as an argument, it is a number like any other."""
    pieces = x.chunk(threads)
    return torch.cat([piece.softmax(dim=-1) for piece in pieces])
