"""The classes of an `except` are in a list, or the expression is not a class. Python checks this
only when an exception is raised, and then raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True

RECOVERABLE = [KeyError, IndexError]


def inputs():
    return {"image": torch.randn(4, 8)}


def breaks(batch):
    try:
        x = batch["pixels"]
    except RECOVERABLE:
        x = batch["image"]
    return x.relu()


@fix("rewrite", "exact")
def fixed(batch):
    """`except` takes a class or a tuple of classes, never a list."""
    try:
        x = batch["pixels"]
    except tuple(RECOVERABLE):
        x = batch["image"]
    return x.relu()
