"""A library defines its own higher order operator, a subclass of `HigherOrderOperator`. Dynamo can
trace only the operators of torch.
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
    """Dynamo traces into a plain function that takes a function, so no operator is needed."""
    return apply_in_eager(torch.relu, x) * 2
