"""Breaks that the program itself asks for are taken out.

`torch._dynamo.graph_break()` splits a graph on purpose, mostly to hunt a bug that is long gone, and
`@torch.compiler.disable` keeps a helper out of compilation that may well compile by now. In eager
both do nothing, so without them the results are the same, unless compiling goes wrong in the very
way for which they were put there; that is what a proof finds out.

Exact. There may be a reason that no result shows, as memory or the time it takes to compile, so
this is an offer and the place says so. A `disable` that is not a plain decorator of a function in
the same file stays, and so does one that gives its reason.
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate, FilePatch
from fullgraph.fix.source.edits import (
    body_around,
    calls_at,
    patched,
    stands_alone,
    statements_at,
    swapped,
    tree_of,
    without,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, imports_of
from fullgraph.fix.source.text import lines_of

TITLE = "a break that the program asks for → taken out"
KIND = "rewrite"
SAFETY = "exact"
ORDER = 1

_BREAKS = tuple(
    f"torch._dynamo.{name}" for name in ("graph_break", "skip_frame", "step_unsupported")
)
_DISABLES = ("torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.decorators.disable")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if not spot.cause.asked_for:
        return
    tree = tree_of(spot.text)
    if tree is None:
        return
    imports = imports_of(tree)
    patch = _without_call(spot, tree, imports) or _without_decorator(spot, tree, imports)
    if patch is not None:
        yield Candidate("remove_user_breaks", TITLE, "rewrite", "exact", file=patch)


def _without_call(spot: Spot, tree: ast.Module, imports: Mapping[str, str]) -> FilePatch | None:
    statement = next(iter(statements_at(tree, spot.cause.line)), None)
    match statement:
        case ast.Expr(value=ast.Call(func=func)) if dotted(func, imports) in _BREAKS:
            if len(body_around(tree, statement)) == 1:
                return patched(spot, swapped(spot.text, [(statement, "pass")]))
            if stands_alone(spot.text, statement):
                return patched(spot, without(spot.text, statement))
    return None


def _without_decorator(
    spot: Spot, tree: ast.Module, imports: Mapping[str, str]
) -> FilePatch | None:
    found = _called_function(spot, tree)
    if found is None:
        return None
    name, function = found
    if len(function.decorator_list) != 1:
        return None
    decorator = function.decorator_list[0]
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    if dotted(call, imports) not in _DISABLES or _has_reason(decorator):
        return None
    lines = lines_of(spot.text)
    del lines[decorator.lineno - 1 : function.lineno - 1]
    # What the decorator made of the function is undone in a running program.
    undo = f'{name} = getattr({name}, "_torchdynamo_orig_callable", {name})'
    return FilePatch(spot.cause.file, "".join(lines), (undo,))


def _has_reason(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "reason" for keyword in decorator.keywords
    )


def _called_function(spot: Spot, tree: ast.Module) -> tuple[str, ast.FunctionDef] | None:
    """The function of this file that is called at the break, by its qualified name."""
    functions = Definitions(tree).functions
    for call in calls_at(spot, tree):
        match call.func:
            case ast.Name(id=name) if name in functions:
                return name, functions[name]
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                owner = _class_at(tree, spot.cause.line)
                if f"{owner}.{attr}" in functions:
                    return f"{owner}.{attr}", functions[f"{owner}.{attr}"]
    return None


def _class_at(tree: ast.Module, line: int) -> str:
    around = [s.name for s in statements_at(tree, line) if isinstance(s, ast.ClassDef)]
    return ".".join(reversed(around))


CHANGES = {
    "a break left over from a hunt": """
import torch

def f(x):
    hidden = x.relu()
    torch._dynamo.graph_break()
    return hidden + 1

def inputs():
    return (torch.randn(4),)
""",
    "the only statement of a block": """
import torch
import torch._dynamo as dynamo

DEBUG = True

def f(x):
    hidden = x.relu()
    if DEBUG:
        dynamo.graph_break()
    return hidden + 1

def inputs():
    return (torch.randn(4),)
""",
    "a helper that compiles by now": """
import torch

@torch.compiler.disable
def rotate(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)

def f(x):
    return x.cos() * x + x.sin() * rotate(x)

def inputs():
    return (torch.randn(4, 4),)
""",
    "a method": """
import torch

class Model(torch.nn.Module):
    @torch._dynamo.disable(recursive=False)
    def scale(self, x):
        return x / x.norm()

    def forward(self, x):
        return self.scale(x) + 1

f = Model()

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "there is a reason": """
import torch

@torch.compiler.disable(reason="the kernel needs real memory")
def helper(x):
    return x * 2

def f(x):
    return helper(x) + 1

def inputs():
    return (torch.randn(4),)
""",
    "the helper prints": """
import torch

@torch.compiler.disable
def report(x):
    print("largest", x.max().item())

def f(x):
    report(x)
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "the helper reads a value": """
import torch

@torch.compiler.disable
def helper(x):
    return x * 2 if x.sum().item() > 0 else x - 1

def f(x):
    return helper(x) + 1

def inputs():
    return (torch.randn(4),)
""",
    "another decorator below it": """
import functools
import torch

def checked(function):
    @functools.wraps(function)
    def wrapper(x):
        assert x.dim() == 1
        return function(x)
    return wrapper

@torch.compiler.disable
@checked
def helper(x):
    return x * 2

def f(x):
    return helper(x) + 1

def inputs():
    return (torch.randn(4),)
""",
}
