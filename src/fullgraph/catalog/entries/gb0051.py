"""The tuple of an `except` contains something other than an exception class, such as a name in
quotes. Python checks this only when an exception is raised, and then raises a TypeError.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return {"image": torch.randn(4, 8)}


def breaks(batch):
    try:
        return batch["pixels"] / 255
    except ("KeyError", IndexError):
        return batch["image"] / 255


@fix("rewrite", "exact")
def fixed(batch):
    """The tuple contains only classes."""
    try:
        return batch["pixels"] / 255
    except (KeyError, IndexError):
        return batch["image"] / 255
