"""A tensor that is put back where it came from is assigned only when it is another one.

`self.table = self.table.to(x.device)` makes sure that a table is where it is needed. Nearly always
it is there already, `.to` gives the same tensor back, and the assignment changes nothing. Still it
goes through `Module.__setattr__` and `register_buffer`, which Dynamo cannot follow for every kind
of buffer. With the result in a local name and an `is` before the assignment, the usual case has no
assignment at all; Dynamo knows the answer, because it knows what `.to` gives back.

Exact: the other case assigns as before. Only methods that give the tensor itself back when there is
nothing to do are changed (`to`, `float`, `contiguous`, ...); a running mean must be assigned each
time, and so must `x.to(..., copy=True)`.
"""

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import (
    function_at,
    indent_of,
    patched,
    source_of,
    span,
    stands_alone,
    statements_at,
    tree_of,
)
from fullgraph.fix.source.names import fresh_name

TITLE = "a tensor put back where it was → only if it changed"
KIND = "rewrite"
SAFETY = "exact"

# These give the tensor itself back if it is already as wanted.
_SAME = (
    "to", "type_as", "float", "double", "half", "bfloat16", "int", "long", "bool", "cpu", "cuda",
    "contiguous", "type",
)  # fmt: skip


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = caller_of(spot)
    if place is None or "=" not in place.line:
        return
    tree = tree_of(place.text)
    function = function_at(tree, place.cause.line) if tree else None
    if tree is None or function is None:
        return
    statement = statements_at(tree, place.cause.line)[0]
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call() as value):
            pass
        case _:
            return
    if not _gives_itself_back(value, target) or not stands_alone(place.text, statement):
        return
    name = fresh_name(target.attr.lstrip("_") or "value", function)
    whole, indent = source_of(place.text, target), indent_of(place.text, statement)
    start, end = span(place.text, statement)
    new = (
        f"{name} = {source_of(place.text, value)}\n"
        f"{indent}if {name} is not {whole}:\n"
        f"{indent}    {whole} = {name}"
    )
    patch = patched(place, place.text[:start] + new + place.text[end:])
    yield Candidate("buffer_reassignment", TITLE, "rewrite", "exact", file=patch)


def _gives_itself_back(value: ast.Call, target: ast.Attribute) -> bool:
    """`self.a.to(...)`, for `self.a = `."""
    if not isinstance(value.func, ast.Attribute) or value.func.attr not in _SAME:
        return False
    if any(keyword.arg in ("copy", None) for keyword in value.keywords):
        return False
    # The fourth and fifth argument of `to` are non_blocking and copy.
    if len(value.args) > 2 or any(isinstance(each, ast.Starred) for each in value.args):
        return False
    return ast.unparse(value.func.value) == ast.unparse(target) and _is_plain(target)


def _is_plain(node: ast.expr) -> bool:
    """A chain of names, which can be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


CHANGES = {
    "a table that follows its input": """
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Buffer(torch.arange(8.0), persistent=False)

    def forward(self, x):
        # The table is not moved with the model.
        self.table = self.table.to(device=x.device, dtype=x.dtype)
        return x + self.table

f = Positions()

def inputs():
    return (torch.randn(8),)
""",
    "in a part of the model": """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Buffer(torch.tensor(2.0))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        if x.dim() == 1:
            self.scale.factor = self.scale.factor.float()
        return x * self.scale.factor

f = Model()

def inputs():
    return (torch.randn(8),)
""",
    "the name is taken": """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Buffer(torch.randn(3, 4))

    def forward(self, x):
        table = x * 2
        self.table = self.table.to(
            x.device,  # where the input is
            non_blocking=True,
        )
        return table + self.table

f = Model()

def inputs():
    return (torch.randn(3, 4),)
""",
}
REFUSES = {
    "another tensor each time": """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        print("mean")
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        return x - self.mean

f = Model()

def inputs():
    return (torch.randn(3, 4),)
""",
    "a copy is wanted": """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Buffer(torch.randn(4))

    def forward(self, x):
        before = self.table
        self.table = self.table.to(torch.float32, copy=True)
        self.table.add_(1)
        print("changed")
        return x + self.table - before

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "from another place": """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Buffer(torch.zeros(4))
        self.other = nn.Buffer(torch.ones(4))

    def forward(self, x):
        self.table = self.other.to(x.dtype)
        return x + self.table

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "the place is computed": """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        for part in self.parts:
            part.table = nn.Buffer(torch.ones(4))
        self.calls = 0

    def part(self):
        self.calls += 1
        return self.parts[self.calls % 2]

    def forward(self, x):
        self.part().table = self.part().table.to(x.dtype)
        return x + self.parts[0].table

f = Model()

def inputs():
    return (torch.randn(4),)
""",
}
