"""The debugging option `debug_force_graph_break_on_leaf_return` is on, left over from a test of
breaks in nested calls. Every function that calls no other function breaks its graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# The option disables fullgraph=True.
BY_DEFAULT = True
CONFIG = {"debug_force_graph_break_on_leaf_return": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.sigmoid(x) * x + 1


@fix("setting", "exact", debug_force_graph_break_on_leaf_return=False)
def fixed(x):
    """The option is for testing Dynamo and off by default. Functions traced while it was on keep
    their breaks until the process restarts.
    """
    return torch.sigmoid(x) * x + 1
