"""Something inside a loop breaks the graph, for example a logged number. Dynamo cannot resume in
the middle of a loop, so it skips the whole function, including the code before and after the loop.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the break inside the loop instead.
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
    """The loop collects tensors, so nothing in it breaks. The caller reads the numbers once, after
    the call.
    """
    norms = []
    for row in x:
        norms.append(row.norm())
    return x * 2, torch.stack(norms)


@fix("setting", "exact", capture_scalar_outputs=True)
def fixed_by_capturing(x):
    """The setting removes the break inside the loop, so Dynamo unrolls the loop."""
    norms = []
    for row in x:
        norms.append(row.norm().item())
    return x * 2, norms
