"""A function marked with `leaf_function` gets a module that the compiled function has just made,
such as an activation: `apply(torch.nn.ReLU(), x)`.
"""

import torch
from torch._dynamo.decorators import leaf_function

from fullgraph.catalog.fix_decorator import fix

# Without it Dynamo crashes on the leaf function after the break.
CONFIG = {"suppress_errors": True}


@leaf_function
def apply(module, x):
    return (module(x),)


@apply.register_fake
def _(module, x):
    return (module(x),)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    (hidden,) = apply(torch.nn.ReLU(), x)
    return hidden + 1


activation = torch.nn.ReLU()


@fix("rewrite", "exact")
def fixed(x):
    """The module exists before the call, as a part of the model or a global, and Dynamo knows its
    source.
    """
    (hidden,) = apply(activation, x)
    return hidden + 1
