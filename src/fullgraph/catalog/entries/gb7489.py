"""`apply_` applies a Python function to each element. The function cannot be an argument in a
graph, and it would run in Python for every number.
"""

import math

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x.clone().apply_(math.erf)


@fix("rewrite", "equal")
def fixed(x):
    """The same function as an operator works on the whole tensor at once."""
    return x.erf()
