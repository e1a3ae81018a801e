"""Code checks a copy of an OrderedDict, such as a state dict, for an attribute: `hasattr(state,
"_metadata")`.
"""

from collections import OrderedDict

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return OrderedDict(weight=torch.randn(8), bias=torch.zeros(8))


def breaks(state):
    state = state.copy()
    state["weight"] = state["weight"] * 2
    if hasattr(state, "_metadata"):
        state["version"] = torch.ones(1)
    return state


@fix("rewrite", "exact")
def fixed(state):
    """OrderedDict(...) makes the same copy, and Dynamo tracks it as an object with attributes.
    Neither copy has the attributes of the original; check the original if they matter.
    """
    state = OrderedDict(state)
    state["weight"] = state["weight"] * 2
    if hasattr(state, "_metadata"):
        state["version"] = torch.ones(1)
    return state
