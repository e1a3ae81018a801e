"""Code that dispatches on annotations compares a type hint with a method call,
`hint.__eq__(other)`, instead of `==`.
"""

from typing import Optional

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), Optional[int]


def breaks(x, hint):
    if hint.__eq__(Optional[int]):
        return x.round()
    return x


@fix("rewrite", "exact")
def fixed(x, hint):
    """The operator means the same, and Dynamo supports it for type hints."""
    if hint == Optional[int]:
        return x.round()
    return x
