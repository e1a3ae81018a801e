"""Something inside a loop breaks the graph, a logged number for instance. Dynamo cannot go on in
the middle of a loop, so it gives up the whole function, also what comes before and after the loop.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True what breaks inside the loop is reported instead.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    norms = []
    for row in x:
        norms.append(row.norm().item())
    return x * 2, norms


def _to_numbers(result):
    scaled, norms = result
    return scaled, norms.tolist()


@fix("move", "exact", after=_to_numbers)
def fixed(x):
    """The loop collects tensors, so nothing in it breaks; the numbers are read once, afterwards."""
    norms = []
    for row in x:
        norms.append(row.norm())
    return x * 2, torch.stack(norms)


@fix("setting", "exact", capture_scalar_outputs=True)
def fixed_by_capturing(x):
    """With the cause inside the loop gone, the loop is unrolled like any other."""
    norms = []
    for row in x:
        norms.append(row.norm().item())
    return x * 2, norms
