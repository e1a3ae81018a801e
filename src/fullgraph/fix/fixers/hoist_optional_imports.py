"""An optional import inside a function moves to the top of its file.

`try: import fast_kernels` with `except ImportError:` is how a function uses a library that may be
missing. While tracing, the failing import ends the graph, and because it is inside of a `try` the
whole function stays in eager. At the top of the file it is tried once, when the file is imported,
and the function finds the answer there.

Exact, if a library is there or not for the whole run. Only a `try` is moved that does nothing but
import, whose handler does nothing but set the same names to constants, and whose names mean
nothing else in the function or the file.
"""

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import (
    body_around,
    function_at,
    indent_of,
    patched,
    stands_alone,
    statements_at,
    tree_of,
    without,
)
from fullgraph.fix.source.names import imports_of, stored_names
from fullgraph.fix.source.text import lines_of

TITLE = "an optional import → tried once, at the top"
KIND = "rewrite"
SAFETY = "exact"

_ERRORS = ("ImportError", "ModuleNotFoundError")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id != "GB0069":
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    attempt = next(
        (s for s in statements_at(tree, spot.cause.line) if isinstance(s, ast.Try)), None
    )
    if attempt is None or not _only_imports(attempt) or not stands_alone(spot.text, attempt):
        return
    names = set(imports_of(ast.Module(list(attempt.body), [])))
    if _handler_names(attempt) != names or not _are_free(names, attempt, function, tree):
        return
    if len(body_around(tree, attempt)) == 1:
        return
    indent = indent_of(spot.text, attempt)
    lines = lines_of(spot.text)[attempt.lineno - 1 : attempt.end_lineno]
    moved = "".join(line.removeprefix(indent) for line in lines).rstrip("\n")
    patch = patched(spot, without(spot.text, attempt), moved)
    yield Candidate("hoist_optional_imports", TITLE, "rewrite", "exact", file=patch)


def _only_imports(attempt: ast.Try) -> bool:
    if attempt.orelse or attempt.finalbody or len(attempt.handlers) != 1:
        return False
    (handler,) = attempt.handlers
    if not isinstance(handler.type, ast.Name) or handler.type.id not in _ERRORS:
        return False
    if not all(isinstance(each, ast.Import | ast.ImportFrom) for each in attempt.body):
        return False
    return all(
        isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        for each in handler.body
    )


def _handler_names(attempt: ast.Try) -> set[str]:
    return {name for each in attempt.handlers[0].body for name in stored_names(each)}


def _are_free(
    names: set[str], attempt: ast.Try, function: ast.FunctionDef, tree: ast.Module
) -> bool:
    """Whether the names are bound nowhere but here."""
    inside = {id(node) for node in ast.walk(attempt)}
    others = [node for node in ast.walk(tree) if id(node) not in inside]
    # Outside of the function such a name is another one, or an error that somebody may rely on.
    return not any(
        names & _bound_by(node)
        or (isinstance(node, ast.Name) and node.id in names and not _is_in(node, function))
        for node in others
    )


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(each.asname or each.name).partition(".")[0] for each in names}
    return set()


def _is_in(node: ast.Name, function: ast.FunctionDef) -> bool:
    return function.lineno <= node.lineno <= (function.end_lineno or 0)


CHANGES = {
    "a kernel that may be missing": """
import torch

def f(x):
    try:
        import faster_softmax
    except ImportError:
        faster_softmax = None
    if faster_softmax is not None:
        return faster_softmax.softmax(x, -1)
    return torch.softmax(x, -1)

def inputs():
    return (torch.randn(4, 4),)
""",
    "a function of one": """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        hidden = x * 2
        # Only if it is installed.
        try:
            from faster_kernels import softmax
        except ModuleNotFoundError:
            softmax = None
        return hidden.softmax(-1) if softmax is None else softmax(hidden)

f = Model()

def inputs():
    return (torch.randn(4, 4),)
""",
    "with a flag beside it": """
import torch

def f(x):
    try:
        import faster_kernels as kernels
    except ImportError:
        kernels = False
    y = x + 1
    return kernels.relu(y) if kernels else y.relu()

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "the handler does more": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.misses = 0

    def forward(self, x):
        try:
            import faster_kernels
        except ImportError:
            faster_kernels = None
            self.misses += 1
        return x + self.misses

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "the body does more": """
import torch

def f(x):
    try:
        x = x + 1
        import faster_kernels
    except ImportError:
        faster_kernels = None
    return x * 2

def inputs():
    return (torch.randn(4),)
""",
    "the name means something else": """
import torch

def helper(kernels):
    return kernels * 2

def f(x):
    try:
        import faster_kernels as kernels
    except ImportError:
        kernels = None
    return helper(x) if kernels is None else x

def inputs():
    return (torch.randn(4),)
""",
    "another error is caught as well": """
import torch

def f(x):
    try:
        import faster_kernels
    except Exception:
        faster_kernels = None
    return x * 2 if faster_kernels is None else x

def inputs():
    return (torch.randn(4),)
""",
}
