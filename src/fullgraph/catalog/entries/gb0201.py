"""The compiled function makes a namedtuple class with a tensor as the default of one of its
fields.
"""

from collections import namedtuple

import torch

from fullgraph.catalog.fix_decorator import fix

Output = namedtuple("Output", ["logits", "mask"])


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    Result = namedtuple("Result", ["logits", "mask"], defaults=(torch.ones(8),))
    result = Result(x.relu())
    return result.logits * result.mask


@fix("rewrite", "exact")
def fixed(x):
    """The class is made once at module level, and the tensor is passed as a value."""
    result = Output(x.relu(), torch.ones(8))
    return result.logits * result.mask
