"""The tuple of an `except` has something in it that is no exception class, such as a name in
quotes. Python finds out only when an exception arrives, and raises a TypeError then.
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
    """Only classes are listed."""
    try:
        return batch["pixels"] / 255
    except (KeyError, IndexError):
        return batch["image"] / 255
