"""The step of a `scan` returns the carry and two outputs as three values, instead of a pair of the
carry and the outputs.
"""

import torch
from torch._higher_order_ops import scan

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def step(carry, row):
        carry = carry * 0.5 + row
        return carry, carry * 2.0, carry.exp()

    return scan(step, torch.zeros(8), x)


@fix("rewrite", "exact")
def fixed(x):
    """The outputs of a step are one value, which may be a tuple."""

    def step(carry, row):
        carry = carry * 0.5 + row
        return carry, (carry * 2.0, carry.exp())

    return scan(step, torch.zeros(8), x)
