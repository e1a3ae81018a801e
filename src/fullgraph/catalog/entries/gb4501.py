"""The compiled function makes a list or a dict and stores its `id()` for later, as the key of a
memo. During tracing the container does not exist, and its id is not the later one.
"""

from dataclasses import dataclass, field

import torch

from fullgraph.catalog.fix_decorator import fix


@dataclass
class Memo:
    owner: object = field(default=None, compare=False)


def inputs():
    return torch.randn(4, 8), Memo()


def breaks(x, memo):
    parts = [x.sin(), x.cos()]
    memo.owner = id(parts)
    return parts


@fix("rewrite", "narrower")
def fixed(x, memo):
    """The memo stores the object instead of its id. Later code compares with `is`, and the object
    cannot be freed and its id reused.
    """
    parts = [x.sin(), x.cos()]
    memo.owner = parts
    return parts
