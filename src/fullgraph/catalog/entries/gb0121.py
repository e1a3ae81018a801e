"""A module uses a method of torch.nn.Module for an operator: `__setitem__ =
torch.nn.Module.register_buffer`, so that `state["mean"] = ...` adds a buffer.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class State(torch.nn.Module):
    __setitem__ = torch.nn.Module.register_buffer


def inputs():
    return State(), torch.randn(4, 8)


def breaks(state, x):
    state["mean"] = x.mean(dim=0)
    return x - state.mean


@fix("rewrite", "exact")
def fixed(state, x):
    """Dynamo traces register_buffer when it is called by its own name."""
    state.register_buffer("mean", x.mean(dim=0))
    return x - state.mean
