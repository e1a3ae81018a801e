"""The compiled function reads a numeric setting of torch, such as `torch.get_num_threads()`, to
decide how to split the work.
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
    """The caller reads the setting and passes it as an ordinary integer."""
    pieces = x.chunk(threads)
    return torch.cat([piece.softmax(dim=-1) for piece in pieces])
