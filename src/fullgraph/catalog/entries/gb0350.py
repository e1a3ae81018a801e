"""The branches of a `torch.cond` return an optional value, which is `None` in this configuration:
`return y, None`. A branch may return tensors and integers, but not `None`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def amplify(a):
        return a * 2, None

    def damp(a):
        return a / 2, None

    hidden, weights = torch.cond(x.sum() > 0, amplify, damp, (x,))
    return hidden, weights


@fix("rewrite", "exact")
def fixed(x):
    """The branches return only the tensors. The caller adds the constant outside, where it is
    known.
    """

    def amplify(a):
        return a * 2

    def damp(a):
        return a / 2

    return torch.cond(x.sum() > 0, amplify, damp, (x,)), None
