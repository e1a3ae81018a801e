"""A context manager is made once and stored in an outer variable, `frozen = torch.no_grad()`. A
context manager that Dynamo does not support, such as a lock, breaks in the same way.
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
    """The `with` statement makes the context manager, so Dynamo knows which one it is."""
    with torch.no_grad():
        target = x.softmax(dim=-1)
    return target - x
