"""A branch of a `torch.cond` returns a Python number next to its tensors, a scale or a rate. What
leaves the branch must be a tensor, an integer or a boolean.
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
    """A tensor without dimensions holds the number just as well and can be chosen when the
    program runs."""
    return torch.cond(
        x.norm() > 1.0,
        lambda x: (x * 0.5, torch.tensor(0.5)),
        lambda x: (x * 2.0, torch.tensor(2.0)),
        (x,),
    )
