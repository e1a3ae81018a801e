"""A forward looks at the clock, frees memory or asks the system for something: a function that
Dynamo never traces and that cannot be part of a graph.
"""

import time

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), float("inf")


def breaks(x, deadline):
    estimate = x.softmax(dim=-1)
    if time.monotonic() < deadline:
        estimate = estimate.sqrt()
    return estimate


@fix("move", "narrower", before=lambda x, deadline: (x, time.monotonic() < deadline))
def fixed(x, in_time):
    """The clock is read before the call, not in the midst of it; the flag picks the graph."""
    estimate = x.softmax(dim=-1)
    if in_time:
        estimate = estimate.sqrt()
    return estimate
