"""The compiled function gets an iterator: `enumerate(...)`, `zip(...)`, `iter(batches)`, a
generator. Dynamo can iterate over containers, but not over an iterator made outside.
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
    """Dynamo can iterate over a list during tracing and unrolls the loop. It also traces an
    `enumerate` or a `zip` over lists if the compiled function makes it.
    """
    for index, batch in batches:
        x = x + batch * index
    return x
