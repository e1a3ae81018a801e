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
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import (
    function_at,
    indent_of,
    patched,
    stands_alone,
    statements_at,
    tree_of,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, fresh_name, imports_of, stored_names
from fullgraph.fix.source.text import lines_of
from fullgraph.fix.source.trees import arguments_of, bound_in, targets_of

TITLE = "a block that cannot be compiled → a function of its own"
KIND = "ease"
SAFETY = "exact"

_BLOCKS = (ast.Try, ast.With, ast.For, ast.While)
# What means something else in another function.
_BOUND_TO_ITS_PLACE = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete,
)  # fmt: skip
# A function with these is left alone: names are shared, or bound in ways that are easily missed.
_UNUSUAL = (
    ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
    ast.GeneratorExp, ast.Import, ast.ImportFrom, ast.Match, ast.Yield, ast.YieldFrom,
)  # fmt: skip
_PLACE_NAMES = ("super", "locals", "vars", "__class__", "exec", "eval", "dir", "_getframe", "warn")
# They let every exception through.
_PLAIN_CONTEXTS = (
    "torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.inference_mode",
    "torch.autocast", "torch.amp.autocast", "torch.profiler.record_function",
    "torch.autograd.profiler.record_function",
)  # fmt: skip


def candidates(spot: Spot) -> Iterator[Candidate]:
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    # Not a function inside of another: it may use what is around it.
    is_own = function in Definitions(tree).functions.values()
    inside = [each for each in ast.walk(function) if each is not function]
    if not is_own or any(isinstance(each, _UNUSUAL) for each in inside):
        return
    around = statements_at(function, spot.cause.line)
    blocks = [each for each in around if isinstance(each, _BLOCKS)]
    if not blocks or not stands_alone(spot.text, blocks[-1]):
        return
    moved = _Moved(function, blocks[-1], imports_of(tree))
    if moved.can_move():
        patch = patched(spot, *_texts(spot, tree, moved))
        yield Candidate("extract_block", TITLE, "ease", "exact", file=patch)


class _Moved:
    """A block of a function, and the names that go in and come out."""

    def __init__(
        self, function: ast.FunctionDef, block: ast.stmt, imports: Mapping[str, str]
    ) -> None:
        self.function = function
        self.block = block
        self._imports = imports
        arguments = {each.arg for each in arguments_of(function)}
        before = [each for each in function.body if (each.end_lineno or 0) < block.lineno]
        # What is deeper than the function itself may not have run.
        self._bound_before = arguments | self._always_bound(before)
        inside = {id(each) for each in ast.walk(block)}
        names = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
        read = {id(each) for each in names if isinstance(each.ctx, ast.Load)}
        # `x += 1` reads as well.
        read |= {id(each.target) for each in ast.walk(function) if isinstance(each, ast.AugAssign)}
        self._stored = stored_names(block)
        self._elsewhere = {each.id for each in names if id(each) not in inside}
        read_here = {each.id for each in names if id(each) in inside and id(each) in read}
        read_elsewhere = {each.id for each in names if id(each) not in inside and id(each) in read}
        local = arguments | bound_in(function)
        self.given = sorted(read_here & self._bound_before)
        # Bound in the block, and nowhere else: it has a value when it is read, or fails as ever.
        own = self._stored - self._elsewhere
        self._unclear = (read_here & local) - self._bound_before - own
        self.result = sorted(self._stored & read_elsewhere)

    def can_move(self) -> bool:
        nodes = list(ast.walk(self.block))
        if any(isinstance(each, _BOUND_TO_ITS_PLACE) for each in nodes) or self._unclear:
            return False
        if _leaves_a_loop(self.block) or any(map(_is_long_text, nodes)):
            return False
        names = {str(getattr(each, "attr", None) or getattr(each, "id", "")) for each in nodes}
        if names & set(_PLACE_NAMES) or any(map(_is_private, names)):
            return False
        caught = {each.name for each in nodes if isinstance(each, ast.ExceptHandler) and each.name}
        if caught & (self._elsewhere | self._bound_before):
            return False
        return set(self.result) <= self._bound_before | self._always_bound([self.block])

    def _always_bound(self, statements: list[ast.stmt]) -> set[str]:
        """Names that have a value when these have run to their end."""
        bound: set[str] = set()
        for statement in statements:
            match statement:
                case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
                    bound |= {name for each in targets_of(statement) for name in stored_names(each)}
                case ast.With(body=body, items=items) if all(map(self._lets_through, items)):
                    bound |= self._always_bound(body)
                case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                    ways = [self._always_bound([*body, *orelse])]
                    kept = [
                        each.body for each in handlers if not isinstance(each.body[-1], ast.Raise)
                    ]
                    ways += map(self._always_bound, kept)
                    bound |= set.intersection(*ways) | self._always_bound(last)
                case ast.If(body=body, orelse=orelse):
                    bound |= self._always_bound(body) & self._always_bound(orelse)
        return bound

    def _lets_through(self, item: ast.withitem) -> bool:
        made = item.context_expr
        function = made.func if isinstance(made, ast.Call) else made
        return dotted(function, self._imports) in _PLAIN_CONTEXTS


def _is_private(name: str) -> bool:
    """In a class, a name with two underscores is another name."""
    return name.startswith("__") and not name.endswith("__")


def _is_long_text(node: ast.AST) -> bool:
    """A text of several lines, which another indentation would change."""
    return isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno


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


# The break stays, so tests/fix/search/test_search.py looks at what these come to.
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
    "an object that is changed afterwards": """
import time
import torch

def f(x, s):
    y = x.sin()
    rows = [torch.zeros(4), torch.zeros(4)]
    row = rows[0]
    try:
        time.sleep(0)
        if s == "second":
            row = rows[1]
            other = 1
    except ValueError:
        pass
    row += y
    return rows[0] + 2 * rows[1] + other

def inputs():
    return torch.randn(4), "second"
""",
    "bound somewhere above, perhaps": """
import time
import torch

def f(x, s):
    y = x.sin()
    if s:
        z = y * 2
        try:
            time.sleep(0)
            n = int(s)
        except ValueError:
            z = z + 1
            y = y + z
    return y.cos()

def inputs():
    return torch.randn(4), "3"
""",
    "an exception that is swallowed": """
import contextlib
import time
import torch

def f(x, s):
    y = x.sin()
    with contextlib.suppress(ValueError):
        time.sleep(0)
        n = int(s)
    if s.isdigit():
        y = y * n
    return y.cos()

def inputs():
    return torch.randn(4), "3"
""",
    "the name of an exception": """
import time
import torch

def f(x, s):
    y = x.sin()
    e = None
    try:
        time.sleep(0)
        y = y * int(s)
    except ValueError as e:
        y = y + 1
    return y.cos(), e

def inputs():
    return torch.randn(4), "3"
""",
    "a closure": """
import time
import torch

def f(x, s):
    y = x.sin()
    n = 3
    g = lambda: n
    try:
        time.sleep(0)
        y = y * int(s)
    except ValueError:
        n = 4
        y = y * g()
    return y.cos() * n

def inputs():
    return torch.randn(4), "3"
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
