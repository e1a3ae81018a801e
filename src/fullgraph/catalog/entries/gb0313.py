"""The two branches of a `torch.cond` return different structures: one branch returns an additional
dictionary entry or an additional tensor in its tuple.
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
    """The operator has one result structure, whichever branch runs. The other branch returns a
    neutral value for the entry that it does not compute.
    """
    return torch.cond(x.norm() > 1.0, normalize, copy_with_scale, (x,))
