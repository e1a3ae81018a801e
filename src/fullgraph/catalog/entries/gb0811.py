"""The compiled function is handed an iterator: `enumerate(...)`, `zip(...)`, `iter(batches)`, a
generator. Dynamo can walk over containers, but not take up an iterator made outside.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(8), enumerate(list(torch.randn(3, 8)))


def breaks(x, batches):
    for index, batch in batches:
        x = x + batch * index
    return x


def in_a_list(x, batches):
    return x, list(batches)


@fix("move", "exact", before=in_a_list)
def fixed(x, batches):
    """A list can be walked over while tracing, one step of the loop for each of its entries. An
    `enumerate` or a `zip` over lists is traced too, if it is made inside."""
    for index, batch in batches:
        x = x + batch * index
    return x
