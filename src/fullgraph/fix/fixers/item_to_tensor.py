"""A number that is read out of a tensor, only to go into another one, stays a tensor.

`scale = x.abs().max().item()` needs a value while tracing, and there is none. Where the number only
meets tensors, as in `x / scale`, a tensor of no dimensions does the same: `.detach()` in the place
of `.item()`, because no gradient goes through a number. No setting is needed.

A tensor of no dimensions does not widen the type of the tensors that it meets, as a number does
not. Where plain arithmetic comes first (`0.5 * x.std().item() + 1`), Python has worked that out
with 64 bits, so it is done with `.double()`; only sums, differences and products with plain
numbers, and quotients by them, since dividing by the value can raise, and `**` rounds its own way.
It is left alone wherever something else sees the number: a branch, a size, text, a result, another
function, arithmetic with a second such number. `int()` cuts off and may raise, so it is changed for
what is seen to be an integer. Types are not seen in the source, but they show in the proof: a
number from an integer tensor that meets tensors of integers, for instance, must give the same type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import (
    function_at,
    nodes_at,
    patched,
    source_of,
    swapped,
    tree_of,
)
from fullgraph.fix.source.inference.tensors import Tensors, is_whole

TITLE = "a number out of a tensor → it stays a tensor"
KIND = "rewrite"
SAFETY = "exact"

_OPERATORS = ast.Add | ast.Sub | ast.Mult | ast.Div
_METHODS = ("mul", "add", "sub", "div", "mul_", "add_", "sub_", "div_", "masked_fill")
_FILLS = ("masked_fill_", "fill_")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id not in ("GB0124", "GB0033"):
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    for node in nodes_at(function, spot.cause.line, spot.cause.column):
        reading = _read_from(node)
        if reading is None:
            continue
        flow = _Flow(function, Tensors(tree, function))
        if flow.only_meets_tensors(node):
            new = _kept(spot.text, *reading, flow)
            if new is not None:
                text = swapped(spot.text, [(node, new)])
                yield Candidate(
                    "item_to_tensor", TITLE, "rewrite", "exact", file=patched(spot, text)
                )
        return


def _read_from(node: ast.expr) -> tuple[ast.expr, str] | None:
    """The tensor that a number is read from, and how."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
            return tensor, "item"
        case ast.Call(func=ast.Name(id="float" | "int" as kind), args=[tensor], keywords=[]):
            return tensor, kind
    return None


def _kept(text: str, tensor: ast.expr, kind: str, flow: _Flow) -> str | None:
    if kind == "int" and not is_whole(tensor):
        return None
    words = source_of(text, tensor)
    if not isinstance(tensor, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        words = f"({words})"
    words += ".detach()"
    if not flow.tensors.is_single(tensor):
        # It may be part of another tensor that changes later, and a number has no dimensions.
        words += ".clone().reshape(())"
    if kind == "float" or flow.has_fractions or (flow.computes and not is_whole(tensor)):
        words += ".double()"
    return words


class _Flow:
    """Where a number goes in a function."""

    def __init__(self, function: ast.FunctionDef, tensors: Tensors) -> None:
        self.tensors = tensors
        # Whether there is plain arithmetic on the way, and such that leaves the integers.
        self.computes = False
        self.has_fractions = False
        self._function = function
        self._parents = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }

    def only_meets_tensors(self, value: ast.expr) -> bool:
        parent = self._parents.get(value)
        match parent:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                return self._joins(parent, right if left is value else left, value)
            case ast.UnaryOp(op=ast.USub()):
                return self.only_meets_tensors(parent)
            case ast.Compare(left=left, ops=[_], comparators=[right]):
                return self.tensors.is_tensor(right if left is value else left)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._is_only_binding(name) and self._all_uses(name)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]):
                return self._is_taken(owner, name, args, value)
        return False

    def _joins(self, parent: ast.BinOp, other: ast.expr, value: ast.expr) -> bool:
        if self.tensors.is_tensor(other):
            return True
        if not (isinstance(other, ast.Constant) and isinstance(other.value, int | float)):
            return False
        if isinstance(parent.op, ast.Div) and (parent.right is value or other.value == 0):
            return False
        self.computes = True
        self.has_fractions |= isinstance(other.value, float) or isinstance(parent.op, ast.Div)
        return self.only_meets_tensors(parent)

    def _is_taken(self, owner: ast.expr, name: str, args: list[ast.expr], value: ast.expr) -> bool:
        """`x.mul(number)`, `x.masked_fill(mask, number)` and `torch.where(c, x, number)`"""
        if name in (*_METHODS, *_FILLS):
            return args[-1] is value and self.tensors.is_tensor(owner)
        chosen = name == "where" and isinstance(owner, ast.Name) and owner.id == "torch"
        others = [each for each in args[1:] if each is not value]
        return chosen and len(args) == 3 and len(others) == 1 and self.tensors.is_tensor(others[0])

    def _is_only_binding(self, name: str) -> bool:
        stores = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name) and node.id == name and not _is_load(node)
        ]
        return len(stores) == 1

    def _all_uses(self, name: str) -> bool:
        uses = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name) and node.id == name and _is_load(node)
        ]
        return bool(uses) and all(map(self.only_meets_tensors, uses))


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


CHANGES = {
    "a scale from the largest value": """
import torch

def f(x):
    scale = x.abs().max().item()
    return torch.round(x / scale * 127)

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)
""",
    "no gradient goes through the mean": """
import torch

def f(x):
    return (x - x.mean().item()).square()

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)
""",
    "a parameter that is read": """
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5]))
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x) * self.scale.item()

f = Scaled()

def inputs():
    return (torch.randn(2, 8),)
""",
    "a threshold that is computed": """
import torch

def f(x):
    limit = 0.3 * x.std().item() + 1e-3
    return torch.where(x.abs() > limit, x, torch.zeros_like(x))

def inputs():
    return (torch.randn(64),)
""",
    "a count that divides": """
import torch
import torch.nn.functional as F

def f(logits, labels):
    counted = (labels != -100).sum().item()
    loss = F.cross_entropy(logits, labels, ignore_index=-100, reduction="none")
    return loss.sum() / counted

def inputs():
    return torch.randn(5, 7, requires_grad=True), torch.tensor([1, 2, -100, 3, -100])
""",
    "the smallest value as filling": """
import torch

def f(x, mask):
    lowest = x.min().item()
    return x.masked_fill(mask, lowest) - lowest

def inputs():
    return torch.randn(3, 4), torch.rand(3, 4) > 0.5
""",
    "a third of a count": """
import torch

def f(x, mask):
    share = (mask > 0).sum().item() / 3 + 0.1
    return x.abs() * share

def inputs():
    return torch.randn(3, 4), torch.tensor([1, 0, 1, 1, 0, 1, 1])
""",
    "half the width": """
import torch

def f(x):
    return x.half() * x.abs().max().item()

def inputs():
    return (torch.randn(3, 4),)
""",
}
REFUSES = {
    "one over what may be zero": """
import torch

def f(x):
    return x * (1.0 / x.sum().item())

def inputs():
    return (torch.ones(4),)
""",
    "the number is a result": """
import torch

def f(x):
    scale = x.abs().max().item()
    return x / scale, scale

def inputs():
    return (torch.randn(4),)
""",
    "a branch on the number": """
import torch

def f(x):
    total = x.sum().item()
    if total > 0:
        x = x * 2
    return x - total

def inputs():
    return (torch.randn(4),)
""",
    "what int cuts off": """
import torch

def f(x):
    return x * int(x.abs().max())

def inputs():
    return (torch.randn(4) * 10,)
""",
    "a wider type": """
import torch

def f(x, weight):
    return x.abs() * weight.sum().item()

def inputs():
    return torch.arange(4), torch.randn(3, dtype=torch.float64)
""",
    "a number in a message": """
import torch

def f(x):
    total = x.sum().item()
    print(f"total {total}")
    return x - total

def inputs():
    return (torch.ones(4),)
""",
    "numbers that meet first": """
import torch

def f(x, y):
    return x * (x.sum().item() * y.sum().item())

def inputs():
    return torch.randn(40), torch.randn(40)
""",
    "a power": """
import torch

def f(x, y):
    return x.abs() ** y.mean().item()

def inputs():
    return torch.randn(40), torch.full((4,), 2.0)
""",
    "more than one element": """
import torch

def f(x, y):
    return x.abs() * y.item()

def inputs():
    return torch.randn(3), torch.randn(3)
""",
    "a size": """
import torch

def f(x, n):
    rows = n.sum().item()
    return torch.zeros(rows) + x

def inputs():
    return torch.randn(1), torch.tensor([1, 2])
""",
}
