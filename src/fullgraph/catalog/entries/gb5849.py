"""All attributes of an object are replaced, `memo.__dict__ = {...}`, and some keys are not
strings.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Memo:
    """Results by the tensor they were computed from, and some by name."""


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    memo = Memo()
    memo.__dict__ = {x: x.sin(), "scale": 2.0}
    return memo.__dict__[x] * memo.scale


class MemoWithTable:
    def __init__(self, table, scale):
        self.table = table
        self.scale = scale


@fix("rewrite", "exact")
def fixed(x):
    """A separate dict holds the entries that have objects as keys. The attributes have names."""
    memo = MemoWithTable({x: x.sin()}, 2.0)
    return memo.table[x] * memo.scale
