"""`print("max", x.max())` in a forward, left over from debugging. Printing needs the values, and
it is an effect that Dynamo does not put into a graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = x.relu()
    print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)


@fix("rewrite", "dropped")
def fixed(x):
    """torch.compiler.is_compiling() is a constant while tracing, so the call vanishes there."""
    hidden = x.relu()
    if not torch.compiler.is_compiling():
        print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)


@fix("setting", "reordered", reorderable_logging_functions={print})
def fixed_by_reordering(x):
    """What is in this set is called after the graph has run, with the values that it computed."""
    hidden = x.relu()
    print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)
