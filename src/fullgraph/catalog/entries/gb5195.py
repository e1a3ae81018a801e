"""A decomposition of one's own asks torch for the dtype of a result with `elementwise_dtypes`, and
one of the operands is a size. With dynamic shapes it is a symbol.
"""

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from fullgraph.catalog.fix_decorator import fix

COMPILE = {"dynamic": True}
KIND = ELEMENTWISE_TYPE_PROMOTION_KIND.INT_TO_FLOAT


def inputs():
    return torch.arange(8)


def breaks(x):
    _, dtype = elementwise_dtypes(x, x.shape[0], type_promotion_kind=KIND)
    return x.to(dtype) / x.shape[0]


@fix("rewrite", "exact")
def fixed(x):
    """The dtype depends on the kind of number only, so any integer will do."""
    _, dtype = elementwise_dtypes(x, 1, type_promotion_kind=KIND)
    return x.to(dtype) / x.shape[0]
