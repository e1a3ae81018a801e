"""A custom decomposition gets the dtype of a result from `elementwise_dtypes`, and one of the
operands is a size. With dynamic shapes the size is a symbol.
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
    """The dtype depends only on the type of the number, so any integer works."""
    _, dtype = elementwise_dtypes(x, 1, type_promotion_kind=KIND)
    return x.to(dtype) / x.shape[0]
