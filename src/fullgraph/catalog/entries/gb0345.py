"""A function runs under the operator `strict_mode`, which export uses, and gets its operands as a
nested structure, `((query, key),)`, instead of one after the other.
"""

import torch
from torch._higher_order_ops.strict_mode import strict_mode

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8), torch.randn(4, 8)


def breaks(query, key):
    def scores(pair):
        return (pair[0] * pair[1]).sum(dim=-1)

    return strict_mode(scores, ((query, key),))


@fix("rewrite", "exact")
def fixed(query, key):
    """The operands are a flat tuple of tensors; the function takes one parameter for each."""

    def scores(query, key):
        return (query * key).sum(dim=-1)

    return strict_mode(scores, (query, key))
