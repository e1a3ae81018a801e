"""A context manager is made once and kept in a variable outside, `frozen = torch.no_grad()`, or it
is one that Dynamo does not know at all, such as a lock.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

frozen = torch.no_grad()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with frozen:
        target = x.softmax(dim=-1)
    return target - x


@fix("rewrite", "exact")
def fixed(x):
    """Where it is made on the spot, Dynamo sees which context manager it is."""
    with torch.no_grad():
        target = x.softmax(dim=-1)
    return target - x
