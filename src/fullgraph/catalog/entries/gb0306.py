"""A library brings a higher order operator of its own, a subclass of `HigherOrderOperator`. Dynamo
knows how to trace the ones in torch, and no others.
"""

import torch
from torch._ops import HigherOrderOperator

from fullgraph.catalog.fix_decorator import fix


class Apply(HigherOrderOperator):
    def __init__(self):
        super().__init__("fullgraph_catalog_gb0306")

    def __call__(self, function, x):
        return super().__call__(function, x)


apply = Apply()


@apply.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)
@apply.py_impl(torch._C.DispatchKey.AutogradCPU)
def apply_in_eager(function, x):
    return function(x)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return apply(torch.relu, x) * 2


@fix("rewrite", "exact")
def fixed(x):
    """A plain function that takes a function is traced through; no operator is needed for that."""
    return apply_in_eager(torch.relu, x) * 2
