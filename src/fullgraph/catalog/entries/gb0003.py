"""torch.compile is applied to a generator function, such as a loader or a sampler that yields one
step at a time.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    for row in x:
        yield row.softmax(dim=-1)


@fix("move", "exact", after=lambda rows: (row for row in rows))
def fixed(x):
    """The compiled function computes all rows at once. The caller then yields them one by one."""
    return x.softmax(dim=-1).unbind()
