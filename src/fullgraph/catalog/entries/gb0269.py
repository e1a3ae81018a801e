"""The debugging switch `debug_force_graph_break_on_leaf_return` is on, left over from testing how
a model copes with breaks in nested calls: every function that calls nothing else ends its graph.
"""

import torch

from fullgraph.catalog.kit import fix

# With fullgraph=True the switch does not raise either.
BY_DEFAULT = True
CONFIG = {"debug_force_graph_break_on_leaf_return": True}


def inputs():
    return torch.randn(4, 8)


def gate(x):
    return torch.sigmoid(x) * x


def breaks(x):
    return gate(x) + 1


@fix("setting", "exact", debug_force_graph_break_on_leaf_return=False)
def fixed(x):
    """The switch is for testing Dynamo itself and off by default; nothing else is needed."""
    return gate(x) + 1
