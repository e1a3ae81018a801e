"""What is done to the elements that a mask selects is done to all, and the mask chooses.

`x[mask] = y[mask]` has as many elements in between as the mask has truths, a size that depends on
data. `torch.where(mask, y, x)` has the size of `x`. The same goes for `x[mask] += 1`, for indices
from `torch.where(condition)` that are used as a mask would be, and for truths that are counted:
`correct[mask].any()`, `.all()`, `.sum()` and `.float().mean()`.

Exact, because each element is worked out as before and only truths are added up: a sum or a mean of
floating point numbers would be added up in another order and is left alone, as are `max` and `min`,
which raise when nothing is selected. On the elements that are not selected something is computed
now, so only copies, casts, sums, and products with plain numbers are changed: a product with
another tensor, a root or a quotient could be NaN there and spoil gradients. The tensor is still
written in place, so views of it and buffers see the change. A mask that is not seen to have the
tensor's shape gets the dimensions that it lacks; a wrong one of size 1 is then stretched, where
indexing raised. A mean of more than 2**24 truths is rounded differently.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers.masks_to_where.rewrite import MaskedText
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import function_at, patched, tree_of
from fullgraph.fix.source.names import imports_of

TITLE = "elements that a mask selects → torch.where"
KIND = "rewrite"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id != "GB0036" and spot.cause.category != "dynamic-shapes":
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None or imports_of(tree).get("torch") != "torch":
        return
    rewrite = MaskedText(spot, function)
    for text in (rewrite.assignment(), rewrite.indices(), rewrite.truths()):
        if text:
            yield Candidate("masks_to_where", TITLE, "rewrite", "exact", file=patched(spot, text))
            return


CHANGES = {
    "a copy of some elements": """
import torch

def f(x, y):
    out = x.clone()
    missing = out < 0
    out[missing] = y[missing] * 2 + 1
    return out

def inputs():
    return torch.randn(4, 5, requires_grad=True), torch.randn(4, 5, requires_grad=True)
""",
    "rows, by a mask of one dimension": """
import torch

def f(x, y, keep):
    out = x * 1.0
    out[keep] = -y[keep]
    return out

def inputs():
    keep = torch.tensor([True, False, True, False])
    return torch.randn(4, 4), torch.randn(4, 4), keep
""",
    "an input that is changed in place": """
import torch

def f(x, scale):
    x[x > 0] += 1
    x[x < 0] *= 0.5
    return x.sum() * scale

def inputs():
    return torch.randn(6), torch.tensor(2.0)
""",
    "a buffer keeps what it is": """
import torch
from torch import nn

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("slots", torch.zeros(4, 3))

    def forward(self, x, write, scale):
        self.slots[write] = x[write].detach()
        return self.slots * scale

f = Memory()

def inputs():
    return torch.randn(4, 3), torch.tensor([True, False, False, True]), torch.randn(3)
""",
    "indices that are a mask": """
import torch

def f(x, y):
    out = x.clone()
    index = torch.where(y > 0)
    out[index] = y[index]
    return out

def inputs():
    return torch.randn(3, 4), torch.randn(3, 4)
""",
    "the share of what is right": """
import torch

def f(logits, labels):
    predicted = logits.argmax(-1)
    right = predicted == labels
    counted = labels != -100
    return right[counted].float().mean()

def inputs():
    return torch.randn(2, 5, 7), torch.tensor([[1, 2, -100, 3, 4], [5, 6, 0, -100, -100]])
""",
    "whether any of them is": """
import torch

def f(x, mask):
    bad = x.isnan()
    known = mask != 0
    return bad[known].any() | x.isinf().all()

def inputs():
    return torch.tensor([[1.0, float("nan")], [2.0, 3.0]]), torch.tensor([[1, 0], [1, 1]])
""",
}
REFUSES = {
    "a sum is added up in another order": """
import torch

def f(x):
    return x[x > 0].sum()

def inputs():
    return (torch.randn(1000),)
""",
    "a product with what may be infinite": """
import torch

def f(x, y, z):
    out = torch.zeros_like(x)
    ok = z > 0
    out[ok] = y[ok] * z[ok]
    return out

def inputs():
    z = torch.tensor([1.0, float("-inf"), 2.0])
    return torch.randn(3), torch.randn(3, requires_grad=True), z.requires_grad_()
""",
    "a quotient of what is not zero": """
import torch

def f(x, y):
    out = torch.zeros_like(x)
    ok = y != 0
    out[ok] = x[ok] / y[ok]
    return out

def inputs():
    return torch.randn(3, requires_grad=True), torch.tensor([1.0, 0.0, 2.0])
""",
    "a root of what is positive": """
import torch

def f(x):
    out = x.clone()
    ok = x > 0
    out[ok] = x[ok].sqrt()
    return out

def inputs():
    return (torch.randn(6, requires_grad=True),)
""",
    "the largest of nothing is an error": """
import torch

def f(x, y):
    return x[x > 0].max() * y

def inputs():
    return torch.randn(6), torch.randn(6)
""",
    "two different masks": """
import torch

def f(x, y):
    out = x.clone()
    low = x < y
    high = x >= y
    out[low] = y[high][: low.sum()]
    return out

def inputs():
    return torch.tensor([1.0, 5.0, 2.0, 7.0]), torch.tensor([3.0, 4.0, 4.0, 4.0])
""",
    "the indices themselves are returned": """
import torch

def f(x):
    index = torch.where(x > 0)
    out = x.clone()
    out[index] = 0
    return out, index[0]

def inputs():
    return (torch.randn(3, 4),)
""",
    "rows that are found by a mask of elements": """
import torch

def f(x, y):
    rows = torch.where(x > 0)[0]
    out = y.clone()
    out[rows] = -y[rows]
    return out

def inputs():
    return torch.randn(3, 3), torch.randn(3, 3)
""",
    "integers that a sum may wrap": """
import torch

def f(x, mask):
    return x[mask].cumsum(0)

def inputs():
    return torch.arange(6), torch.tensor([True, False, True, True, False, True])
""",
}
