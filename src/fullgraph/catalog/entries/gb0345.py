"""A function runs under the operator `strict_mode`, which export uses. Its operands are a nested
structure, `((query, key),)`, instead of a flat tuple.
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
    """The operands are a flat tuple of tensors, and the function takes one parameter per tensor."""

    def scores(query, key):
        return (query * key).sum(dim=-1)

    return strict_mode(scores, (query, key))
