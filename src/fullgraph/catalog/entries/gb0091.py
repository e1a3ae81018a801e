"""A nested function uses a variable of its enclosing function and is called before that variable
has a value. Python raises a NameError there.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def scaled():
        return x * scale

    y = scaled()
    scale = x.shape[-1] ** -0.5
    return y


@fix("rewrite", "exact")
def fixed(x):
    """The variable has a value when the nested function is called."""

    def scaled():
        return x * scale

    scale = x.shape[-1] ** -0.5
    y = scaled()
    return y
