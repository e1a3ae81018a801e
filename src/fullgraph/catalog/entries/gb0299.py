"""A regular expression searches a `bytearray`, a mutable buffer. The pattern is a constant for
Dynamo, but its argument is not.
"""

import re

import torch

from fullgraph.catalog.fix_decorator import fix

SCALE = re.compile(rb"scale=(\d+)")


def inputs():
    return torch.randn(4, 8), bytearray(b"scale=3")


def breaks(x, header):
    match = SCALE.match(header)
    return x if match is None else x * int(match.group(1))


def read_scale(x, header):
    match = SCALE.match(header)
    return x, 1 if match is None else int(match.group(1))


@fix("move", "exact", before=read_scale)
def fixed(x, scale):
    """The caller parses the header and passes the number."""
    return x * scale
