"""A handler notes more details on the exception that it has caught, as a new attribute, and reads
them again: `error.available = list(batch)`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return {"image": torch.randn(4, 8)}


def breaks(batch):
    try:
        x = batch["pixels"]
    except KeyError as error:
        error.available = list(batch)
        x = batch[error.available[0]]
    return x.relu()


@fix("rewrite", "exact")
def fixed(batch):
    """The details are kept in a variable of their own instead of on the exception."""
    try:
        x = batch["pixels"]
    except KeyError:
        available = list(batch)
        x = batch[available[0]]
    return x.relu()
