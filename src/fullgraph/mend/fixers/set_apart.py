"""What cannot be compiled gets a function of its own, so that the rest of its function can be.

Dynamo can stop and go on between two statements. In the middle of a `try`, of a loop, or of a
`with` that it does not know, it cannot go on, so the rest of the function, or all of it, runs in
eager because of one line. Here the whole block moves to a helper that is marked with
`torch.compiler.disable`: it runs as it did, and what comes before and after it is compiled.

Exact: the same statements run in the same order on the same objects. The break is still there, so
this comes last. Blocks that return, that leave a loop around them, or that may leave a name without
a value stay as they are, and so does whatever depends on where it is written: `super()`, names that
start with two underscores, closures.
"""

import ast
import textwrap
from collections.abc import Iterator

from fullgraph.mend.fixers import Spot
from fullgraph.mend.model import Candidate
from fullgraph.mend.rewriting.definitions import Definitions
from fullgraph.mend.rewriting.edit import (
    function_at,
    indent_of,
    patched,
    stands_alone,
    statements_at,
    tree_of,
)
from fullgraph.mend.rewriting.names import fresh_name, names_in, stored_names
from fullgraph.mend.rewriting.trees import arguments_of, bound_in
from fullgraph.mend.source import lines_of

TITLE = "a block that cannot be compiled → a function of its own"
KIND = "ease"
SAFETY = "exact"

_BLOCKS = (ast.Try, ast.With, ast.For, ast.While)
# What means something else in another function.
_BOUND_TO_ITS_PLACE = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global,
    ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Delete,
    ast.Import, ast.ImportFrom,
)  # fmt: skip
_PLACE_NAMES = ("super", "locals", "vars", "__class__", "exec", "eval", "dir")


def candidates(spot: Spot) -> Iterator[Candidate]:
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    # Not a function inside of another: it may use what is around it.
    if function not in Definitions(tree).functions.values() or _is_special(function):
        return
    blocks = [
        each for each in statements_at(function, spot.cause.line) if isinstance(each, _BLOCKS)
    ]
    if not blocks or not stands_alone(spot.text, blocks[-1]):
        return
    moved = _Moved(function, blocks[-1])
    if moved.can_move():
        patch = patched(spot, *_texts(spot, tree, moved))
        yield Candidate("set_apart", TITLE, "ease", "exact", file=patch)


def _is_special(function: ast.FunctionDef) -> bool:
    own = [each for each in ast.walk(function) if isinstance(each, ast.Global | ast.Nonlocal)]
    makes = [each for each in ast.walk(function) if isinstance(each, ast.Yield | ast.YieldFrom)]
    return bool(own or makes)


class _Moved:
    """A block of a function, and the names that go in and come out."""

    def __init__(self, function: ast.FunctionDef, block: ast.stmt) -> None:
        self.function = function
        self.block = block
        arguments = {each.arg for each in arguments_of(function)}
        self._local = arguments | bound_in(function)
        self._bound_before = arguments | _always_bound(_statements_before(function, block))
        self._stored = stored_names(block)
        read = {each for each in names_in(block) if each in self._local}
        # What the block itself binds first is its own business.
        self.given = sorted(read & self._bound_before)
        self._unclear = read - self._bound_before - self._stored
        self.result = sorted(self._stored & self._read_elsewhere())

    def _read_elsewhere(self) -> set[str]:
        inside = {id(each) for each in ast.walk(self.block)}
        return {
            each.id
            for each in ast.walk(self.function)
            if isinstance(each, ast.Name)
            and isinstance(each.ctx, ast.Load)
            and id(each) not in inside
        }

    def can_move(self) -> bool:
        nodes = list(ast.walk(self.block))
        if any(isinstance(each, _BOUND_TO_ITS_PLACE) for each in nodes) or self._unclear:
            return False
        if _leaves_a_loop(self.block) or names_in(self.block) & set(_PLACE_NAMES):
            return False
        if any(_is_long_text(each) for each in nodes):
            return False
        names = [getattr(each, "attr", None) or getattr(each, "id", "") for each in nodes]
        if any(name.startswith("__") and not name.endswith("__") for name in names if name):
            return False
        bound = self._bound_before | _always_bound([self.block])
        return set(self.result) <= bound


def _is_long_text(node: ast.AST) -> bool:
    """A text of several lines, which another indentation would change."""
    return isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno


def _statements_before(function: ast.FunctionDef, block: ast.stmt) -> list[ast.stmt]:
    """Those at the top of the function; what is deeper may not have run."""
    return [each for each in function.body if (each.end_lineno or each.lineno) < block.lineno]


def _always_bound(statements: list[ast.stmt]) -> set[str]:
    """Names that have a value when these have run to their end."""
    bound: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
                bound |= stored_names(statement)
            case ast.With(body=body, items=items):
                for item in items:
                    bound |= stored_names(item.optional_vars) if item.optional_vars else set()
                bound |= _always_bound(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                ways = [_always_bound([*body, *orelse])]
                ways += [_always_bound(each.body) for each in handlers if not _raises(each.body)]
                bound |= set.intersection(*ways) | _always_bound(finalbody)
            case ast.If(body=body, orelse=orelse):
                bound |= _always_bound(body) & _always_bound(orelse)
    return bound


def _raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise)


def _leaves_a_loop(block: ast.stmt) -> bool:
    """Whether a `break` or `continue` is about a loop around the block."""

    def look(node: ast.AST, is_inside: bool) -> bool:
        if isinstance(node, ast.Break | ast.Continue):
            return not is_inside
        if isinstance(node, ast.For | ast.While):
            after = any(look(each, is_inside) for each in node.orelse)
            return after or any(look(each, True) for each in node.body)
        return any(look(each, is_inside) for each in ast.iter_child_nodes(node))

    return look(block, False)


def _texts(spot: Spot, tree: ast.Module, moved: _Moved) -> tuple[str, str, str]:
    """The file with a call in the block's place, and what it gains."""
    name = fresh_name(f"_{moved.function.name.strip('_')}_in_eager", tree)
    lines = lines_of(spot.text)
    first, last = moved.block.lineno, moved.block.end_lineno or moved.block.lineno
    body = textwrap.dedent("".join(lines[first - 1 : last])).rstrip("\n")
    given, result = ", ".join(moved.given), ", ".join(moved.result)
    made = (
        f"\n\n@torch.compiler.disable\ndef {name}({given}):\n{textwrap.indent(body, '    ')}\n"
        + (f"    return {result}\n" if result else "")
    )
    call = f"{result} = {name}({given})" if result else f"{name}({given})"
    indent = indent_of(spot.text, moved.block)
    text = "".join([*lines[: first - 1], f"{indent}{call}\n", *lines[last:]])
    return text, "import torch", made


# The break stays, so tests/mend/test_peel.py looks at what these come to.
CHANGES: dict[str, str] = {}
REFUSES = {
    "it returns from the middle": """
import time
import torch

def f(x):
    y = x.sin()
    try:
        time.sleep(0)
        return y.cos()
    except ValueError:
        y = x
    return y + 1

def inputs():
    return (torch.randn(4),)
""",
    "a name that may have no value": """
import time
import torch

def f(x):
    y = x.sin()
    try:
        time.sleep(0)
        z = y + 1
    except ValueError:
        pass
    return z.cos()

def inputs():
    return (torch.randn(4),)
""",
    "a text of several lines": """
import time
import torch

def f(x):
    y = x.sin()
    try:
        time.sleep(0)
        y = y + len('''a
            b''')
    except ValueError:
        pass
    return y.cos()

def inputs():
    return (torch.randn(4),)
""",
    "names with two underscores": """
import time
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.__scale = 2.0

    def forward(self, x):
        y = x.sin()
        try:
            time.sleep(0)
            y = y * self.__scale
        except ValueError:
            pass
        return y.cos()

f = Model()

def inputs():
    return (torch.randn(4),)
""",
}
