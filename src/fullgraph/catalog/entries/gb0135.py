"""A handler stores details as a new attribute of the caught exception and reads them back:
`error.available = list(batch)`.
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
    """A local variable stores the details instead of the exception."""
    try:
        x = batch["pixels"]
    except KeyError:
        available = list(batch)
        x = batch[available[0]]
    return x.relu()
