"""A forward calls `warnings.warn` if its arguments look wrong. The warning is a side effect, and
Dynamo does not trace the function that gives it.
"""

import warnings

import torch

from fullgraph.catalog.fix_decorator import fix

TITLE = "`warnings.warn`"


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if x.shape[0] < 8:
        warnings.warn("the batch is small", stacklevel=2)
    return x.softmax(dim=-1)


@fix("rewrite", "dropped")
def fixed(x):
    """torch.compiler.is_compiling() is a constant during tracing, so the warning is not in the
    compiled code.
    """
    if x.shape[0] < 8 and not torch.compiler.is_compiling():
        warnings.warn("the batch is small", stacklevel=2)
    return x.softmax(dim=-1)


@fix("setting", "reordered", reorderable_logging_functions={warnings.warn})
def fixed_by_reordering(x):
    """Functions in this set are called after the graph has run."""
    if x.shape[0] < 8:
        warnings.warn("the batch is small", stacklevel=2)
    return x.softmax(dim=-1)
