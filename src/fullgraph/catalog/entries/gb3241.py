"""A field of a `ctypes.Structure` is deleted, which such fields do not allow."""

import ctypes

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Header(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int), ("columns", ctypes.c_int)]


def inputs():
    return Header(4, 8), torch.randn(4, 8)


def breaks(header, x):
    del header.rows
    return x.relu()


@fix("rewrite", "exact")
def fixed(header, x):
    """A field of C data always exists: do not delete it, or set it to zero outside."""
    return x.relu()
