"""The two branches of a `torch.cond` return different things: one of them adds an entry to its
dictionary, or one tensor more to its tuple.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def normalize(x):
    scale = x.norm()
    return {"out": x / scale, "scale": scale}


def copy(x):
    return {"out": x.clone()}


def breaks(x):
    return torch.cond(x.norm() > 1.0, normalize, copy, (x,))


def copy_with_scale(x):
    return {"out": x.clone(), "scale": torch.ones(())}


@fix("rewrite", "exact")
def fixed(x):
    """The operator has one kind of result, whichever branch runs: the other branch fills in a
    neutral value for what it does not compute."""
    return torch.cond(x.norm() > 1.0, normalize, copy_with_scale, (x,))
