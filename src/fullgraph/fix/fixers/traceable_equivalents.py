"""Python that Dynamo cannot follow is said in the words that it can.

Some ways to write a thing trace and others do not, though they mean the same. `groupby(items, key)`
breaks and `groupby(items, key=key)` does not. A container made by calling its annotated type,
`dict[str, Tensor]()`, is `dict()`. A `with` over a `torch.no_grad()` that was made once, at the top
of the file, can make its own. `copy.deepcopy` of a tensor is a detached clone, whose
`requires_grad` is that of the original.

Exact: the same objects come out. A deep copy of a container stays, because tensors that occur in it
twice, or share memory, still do in the copy; so does one that is kept on a module, where a
parameter and a tensor are not the same thing.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import (
    calls_at,
    patched,
    source_of,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, imports_of, stored_names

TITLE = "Python that cannot be traced → the same in other words"
KIND = "rewrite"
SAFETY = "exact"

_MODES = (
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled",
    "torch.autocast", "torch.amp.autocast",
)  # fmt: skip
_CONTAINERS = ("dict", "list", "set", "tuple", "frozenset")


class _Place(NamedTuple):
    spot: Spot
    tree: ast.Module
    imports: Mapping[str, str]
    # The break as it was reported, perhaps in Python's own library.
    original: Spot

    def source(self, node: ast.expr) -> str:
        return source_of(self.spot.text, node)


def candidates(spot: Spot) -> Iterator[Candidate]:
    rules = _RULES.get(spot.cause.id or "", ())
    near = caller_of(spot) if rules else None
    tree = tree_of(near.text) if near else None
    if near is None or tree is None:
        return
    place = _Place(near, tree, imports_of(tree), spot)
    for rule in rules:
        change = rule(place)
        if change is not None:
            patch = patched(near, swapped(near.text, [change]))
            yield Candidate("traceable_equivalents", TITLE, "rewrite", "exact", file=patch)
            return


_Change = tuple[ast.expr | ast.stmt, str] | None


def _groupby(place: _Place) -> _Change:
    """Dynamo wants the key by its name and the items without."""
    for call in _calls(place):
        if dotted(call.func, place.imports) != "itertools.groupby":
            continue
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        if None in named or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        values = [*call.args, *(named[n] for n in ("iterable", "key") if n in named)]
        if not 1 <= len(values) <= 2 or set(named) - {"iterable", "key"}:
            return None
        # They are evaluated in the order in which they are written.
        if list(named) == ["key", "iterable"]:
            return None
        shown = [place.source(each) for each in values]
        key = f", key={shown[1]}" if len(shown) == 2 else ""
        return call, f"{place.source(call.func)}({shown[0]}{key})"
    return None


def _calls(place: _Place) -> list[ast.Call]:
    """Around the break; for a loop that cannot be entered, what it goes over."""
    found = calls_at(place.spot, place.tree)
    statement = statements_at(place.tree, place.spot.cause.line)[0]
    if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call):
        found.append(statement.iter)
    return found


def _annotated_container(place: _Place) -> _Change:
    defined = Definitions(place.tree)
    others = {*stored_names(place.tree), *place.imports, *defined.classes, *defined.functions}
    for call in calls_at(place.spot, place.tree):
        match call.func:
            case ast.Subscript(value=ast.Name(id=name)) if name in _CONTAINERS:
                return None if name in others else (call.func, name)
    return None


def _stored_mode(place: _Place) -> _Change:
    """A grad mode that is made once, at the top, and entered here."""
    block = statements_at(place.tree, place.spot.cause.line)[0]
    if not isinstance(block, ast.With):
        return None
    for item in block.items:
        if isinstance(item.context_expr, ast.Name) and item.optional_vars is None:
            made = _made_once(item.context_expr.id, place)
            if made is not None:
                return item.context_expr, made
    return None


def _made_once(name: str, place: _Place) -> str | None:
    bound = [
        node
        for node in ast.walk(place.tree)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    arguments = [n for n in ast.walk(place.tree) if isinstance(n, ast.arg) and n.arg == name]
    if len(bound) != 1 or arguments:
        return None
    for statement in place.tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as call):
                if target == name and dotted(call.func, place.imports) in _MODES:
                    constant = all(
                        isinstance(each, ast.Constant)
                        for each in (*call.args, *(k.value for k in call.keywords))
                    )
                    return place.source(call) if constant else None
    return None


def _deepcopy(place: _Place) -> _Change:
    for call in calls_at(place.spot, place.tree):
        if dotted(call.func, place.imports) != "copy.deepcopy" or len(call.args) != 1:
            continue
        (value,) = call.args
        if call.keywords or not isinstance(value, ast.Name) or not _is_direct(place.original):
            return None
        statement = statements_at(place.tree, call.lineno)[0]
        match statement:
            case ast.Assign(targets=[ast.Name()]):
                name = value.id
                return call, f"{name}.detach().clone().requires_grad_({name}.requires_grad)"
    return None


def _is_direct(spot: Spot) -> bool:
    """Whether what is copied is the tensor itself: `copy.deepcopy` has not called itself."""
    return sum(frame.function == "deepcopy" for frame in spot.cause.stack) == 1


_RULES = {
    "GB0134": (_groupby,),
    "GB0155": (_groupby,),
    "GB0811": (_groupby,),
    "GB0147": (_annotated_container,),
    "GB0142": (_stored_mode,),
    # Since 2.15 for the same.
    "GB0008": (_stored_mode,),
    "GB4198": (_deepcopy,),
}

CHANGES = {
    "groups by kind": """
import itertools
import torch

LAYERS = ("relu", "relu", "tanh", "relu")

def kind(name):
    return name == "relu"

def f(x):
    for is_relu, group in itertools.groupby(LAYERS, kind):
        for _ in group:
            x = x.relu() if is_relu else x.tanh()
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "groups with both names": """
from itertools import groupby
import torch

def f(x):
    for even, group in groupby(
        iterable=range(5),  # the layers
        key=lambda number: number % 2 == 0,
    ):
        x = x * len(list(group)) + even
    return x

def inputs():
    return (torch.randn(4),)
""",
    "a container made by its type": """
import torch

def f(x):
    outputs = dict[str, torch.Tensor]()
    outputs["hidden"] = x.relu()
    parts = list[torch.Tensor](x.unbind(0))
    return outputs["hidden"] + parts[0]

def inputs():
    return (torch.randn(2, 4),)
""",
    "a mode that is made once": """
import torch

frozen = torch.no_grad()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 4)

    def forward(self, x):
        with frozen:
            hidden = self.encoder(x)
        return self.head(hidden)

f = Model()

def inputs():
    return (torch.randn(2, 4),)
""",
    "a copy before a change in place": """
import copy
import torch

def f(x):
    original = copy.deepcopy(x)
    x.mul_(2)
    return x - original

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "a copy of a container in which a tensor is twice": """
import copy
import torch

def f(x):
    first, second = copy.deepcopy([x, x])
    first.add_(1)
    return second * 2

def inputs():
    return (torch.randn(4),)
""",
    "a copy that is kept on the module": """
import copy
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.saved = torch.nn.Parameter(torch.zeros(4))

    def forward(self, x):
        self.saved = copy.deepcopy(self.weight)
        return x + self.saved

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "a mode that is chosen elsewhere": """
import torch

mode = torch.no_grad()

def choose(training):
    global mode
    mode = torch.enable_grad() if training else torch.no_grad()

choose(True)

def f(x):
    with mode:
        y = x * 2
    return y + 1

def inputs():
    return (torch.randn(4, requires_grad=True),)
""",
    "a type of the same name": """
import torch

class list(dict):
    pass

def f(x):
    parts = list[torch.Tensor](hidden=x)
    return parts["hidden"] + 1

def inputs():
    return (torch.randn(4),)
""",
    "a key that is not given by itself": """
import itertools
import torch

def f(x):
    options = (range(4), lambda number: number > 1)
    for large, group in itertools.groupby(*options):
        x = x * len(list(group)) + large
    return x

def inputs():
    return (torch.randn(4),)
""",
    "a mode that is an argument": """
import torch

frozen = torch.no_grad()

def part(x, frozen):
    with frozen:
        return x * 2

def f(x):
    return part(x, frozen) + 1

def inputs():
    return (torch.randn(4),)
""",
}
