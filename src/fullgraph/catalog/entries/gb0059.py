"""A forward contains `print("max", x.max())`, left over from debugging. Printing needs the values,
and it is a side effect that Dynamo does not put into a graph.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`print`"


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = x.relu()
    print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)


@fix("rewrite", "dropped")
def fixed(x):
    """torch.compiler.is_compiling() is a constant during tracing, so the call is not in the
    compiled code.
    """
    hidden = x.relu()
    if not torch.compiler.is_compiling():
        print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)


@fix("setting", "reordered", reorderable_logging_functions={print})
def fixed_by_reordering(x):
    """Functions in this set are called after the graph has run, with the values that the graph
    computed.
    """
    hidden = x.relu()
    print("largest activation:", hidden.max())
    return hidden.softmax(dim=-1)
