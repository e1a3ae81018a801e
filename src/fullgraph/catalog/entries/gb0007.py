"""A forward reads the clock, frees memory or calls the operating system. Dynamo never traces such a
function, and the function cannot be part of a graph.
"""

import time

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`time.monotonic`, `time.sleep`"


def inputs():
    return torch.randn(4, 8), float("inf")


def breaks(x, deadline):
    estimate = x.softmax(dim=-1)
    if time.monotonic() < deadline:
        estimate = estimate.sqrt()
    return estimate


@fix("move", "narrower", before=lambda x, deadline: (x, time.monotonic() < deadline))
def fixed(x, in_time):
    """The caller reads the clock before the call instead of in the middle of it. Dynamo guards on
    the flag and compiles one graph per value.
    """
    estimate = x.softmax(dim=-1)
    if in_time:
        estimate = estimate.sqrt()
    return estimate
