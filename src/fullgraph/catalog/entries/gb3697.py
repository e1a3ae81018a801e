"""The compiled function assigns a field of a `ctypes.Structure`, such as the header of a binary
record.
"""

import ctypes

import torch

from fullgraph.catalog.fix_decorator import fix


class Header(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int), ("columns", ctypes.c_int)]


def inputs():
    return Header(0, 0), torch.randn(4, 8)


def breaks(header, x):
    header.rows = x.shape[0]
    header.columns = x.shape[1]
    return x.relu()


def fill(header, x):
    header.rows, header.columns = x.shape
    return x


@fix("move", "exact", before=fill)
def fixed(x):
    """Shapes are also known outside, so the caller fills the record before the graph runs."""
    return x.relu()
