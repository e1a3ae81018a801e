"""The debugging switch `debug_force_graph_break_on_leaf_return` is on, left over from testing how
a model copes with breaks in nested calls: every function that calls nothing else ends its graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# The switch turns fullgraph=True off.
BY_DEFAULT = True
CONFIG = {"debug_force_graph_break_on_leaf_return": True}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.sigmoid(x) * x + 1


@fix("setting", "exact", debug_force_graph_break_on_leaf_return=False)
def fixed(x):
    """The switch is for testing Dynamo itself and off by default. Functions that were traced while
    it was on keep their breaks until the process is started again."""
    return torch.sigmoid(x) * x + 1
