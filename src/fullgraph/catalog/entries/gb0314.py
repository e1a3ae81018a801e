"""A branch of a `torch.cond` returns a Python float with its tensors, such as a scale or a rate. A
branch may return only tensors, integers and booleans.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.cond(x.norm() > 1.0, lambda x: (x * 0.5, 0.5), lambda x: (x * 2.0, 2.0), (x,))


@fix("rewrite", "exact")
def fixed(x):
    """A 0-d tensor holds the number, and the operator can select it at run time."""
    return torch.cond(
        x.norm() > 1.0,
        lambda x: (x * 0.5, torch.tensor(0.5)),
        lambda x: (x * 2.0, torch.tensor(2.0)),
        (x,),
    )
