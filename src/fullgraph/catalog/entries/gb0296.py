"""A logging function is registered to run after the graph, and it gets a dict, a list or an object.
Only tensors, constants and formatted strings can be kept until then.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def report(*values):
    print(*values)


torch._dynamo.config.reorderable_logging_functions.add(report)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = x.relu()
    report({"mean": hidden.mean(), "peak": hidden.max()})
    return hidden.softmax(dim=-1)


@fix("rewrite", "reordered")
def fixed(x):
    """The tensors are separate arguments, so they can be kept and printed after the graph has
    run.
    """
    hidden = x.relu()
    report("mean", hidden.mean(), "peak", hidden.max())
    return hidden.softmax(dim=-1)
