"""The `id()` of a list or dict that the compiled function has made is kept for later, as the key
of a memo. While tracing the container does not exist yet, and its id is not the later one.
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
    """The memo keeps the object in place of its id. It compares with `is` then, and the object
    cannot be freed and its id given to another."""
    parts = [x.sin(), x.cos()]
    memo.owner = parts
    return parts
