"""The tests that a fix rewrites: of `if`, `assert` and the like, and masks. Imports no torch.

A rewritten test is one that decides no longer, or not in compiled code. Both of its sides have to
run before a fix counts as verified. `observing_edits` returns edits that change nothing but report
the values of tests to the functions that `trials/side_observer.py` defines.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from fullgraph.fix.source.edits import Edit, apply_edits, edited_lines
from fullgraph.fix.source.text import parse, source_of, span

_Branch = ast.If | ast.IfExp | ast.Assert | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LONGEST = 60
# The names of the functions that observed code calls.
TEST, MASK, LEFT, RIGHT = (
    f"__fullgraph_{name}__" for name in ("test", "mask", "left_operand", "right_operand")
)
_ORDERED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class RewrittenTest(Struct, frozen=True):
    """A test of the original program that a fix rewrites."""

    line: int
    shown: str
    # Where it is in the original text.
    start: int
    end: int
    # Whether it is an index: its sides are that an element of it is true, and that one is false.
    is_mask: bool = False


def rewritten_tests(text: str, edits: Iterable[Edit]) -> tuple[RewrittenTest, ...]:
    """Return the tests on the lines that edits change, without those that decide as before."""
    edits = tuple(edits)
    before, after = parse(text), parse(apply_edits(text, edits))
    if before is None or after is None:
        return ()
    lines = set(edited_lines(text, edits))
    kept = Counter(map(_decision, _deciding_nodes(after)))
    known = Counter(map(_decision, _deciding_nodes(before)))
    found = []
    for node in _deciding_nodes(before):
        test = node.test if isinstance(node, _Branch) else node
        is_changed = not lines.isdisjoint(range(test.lineno, (test.end_lineno or test.lineno) + 1))
        decision = _decision(node)
        if is_changed and kept[decision] < known[decision]:
            found.append(_as_test(text, test, is_mask=not isinstance(node, _Branch)))
    # Of tests that start at one place, the outer one comes first.
    return tuple(sorted(set(found), key=lambda each: (each.start, -each.end)))


def _as_test(text: str, node: ast.expr, *, is_mask: bool) -> RewrittenTest:
    shown = " ".join(source_of(text, node).split())
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
    return RewrittenTest(node.lineno, shown, *span(text, node), is_mask)


def _deciding_nodes(node: ast.AST, *, compiled: bool = True) -> Iterator[_Branch | ast.expr]:
    """Yield branches and the indices of subscripts, without those that compiled code never runs."""
    if isinstance(node, _Branch):
        yield node
    if isinstance(node, ast.Subscript):
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        yield from (each for each in indices if not isinstance(each, ast.Slice | ast.Constant))
    skipped: list[ast.AST] = []
    match node:
        case ast.If(test=test) if _is_compiling(test):
            skipped += node.orelse
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test)) if _is_compiling(test):
            skipped += node.body
    # The positions in f-strings are wrong before Python 3.12.
    for child in ast.iter_child_nodes(node) if not isinstance(node, ast.JoinedStr) else ():
        if not any(child is each for each in skipped):
            yield from _deciding_nodes(child)


def _is_compiling(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_is_compiling, test.values))
    return isinstance(test, ast.Call) and ast.unparse(test.func).endswith("is_compiling")


def _decision(node: _Branch | ast.expr) -> str:
    """Return a text that is equal for branches that Python takes, whatever their tests are."""
    match node:
        case ast.If() | ast.While():
            parts: list[ast.AST] = [*node.body, *node.orelse]
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.Assert():
            parts = [node.msg] if node.msg is not None else []
        case _:
            parts = [node]
    kind = type(node).__name__ if isinstance(node, _Branch) else "mask"
    return " ".join([kind, *map(ast.dump, parts)])


class Deciding(Struct, frozen=True):
    """The numbers of the comparisons that may decide a test."""

    # Parts of the test.
    inside: tuple[int, ...]
    # Others in the same functions.
    others: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, the parts of the test first."""
        return (*self.inside, *self.others)


def observing_edits(
    text: str, tests: Iterable[RewrittenTest], *, after: Sequence[Deciding] = ()
) -> tuple[tuple[Edit, ...], list[Deciding]]:
    """Return edits that report tests and comparisons, and which comparisons may decide each test.

    A test is reported by its index, which is counted on from those of other files.
    """
    tests = tuple(tests)
    tree = parse(text)
    if tree is None:
        return (), []
    functions = [each for each in _outermost(tree) if _has_any(text, each, tests)]
    opening: list[Edit] = []
    closing: list[Edit] = []

    def wrap(start: int, end: int, head: str) -> None:
        opening.append(Edit(start, start, f"{head}, "))
        # Of calls that end at one place, the inner one is closed first.
        closing.insert(0, Edit(end, end, ")"))

    for index, test in enumerate(tests, len(after)):
        wrap(test.start, test.end, f"{MASK if test.is_mask else TEST}({index}")
    compares = [node for each in functions for node in _comparisons(each)]
    first = max((number + 1 for each in after for number in each.all), default=0)
    for number, node in enumerate(compares, first):
        wrap(*span(text, node.left), f"{LEFT}({number}")
        wrap(*span(text, node.comparators[0]), f"{RIGHT}({number}")
    spans = dict(enumerate((span(text, node) for node in compares), first))
    deciding = []
    for test in tests:
        inside = [n for n, each in spans.items() if test.start <= each[0] and each[1] <= test.end]
        deciding.append(Deciding(tuple(inside), tuple(n for n in spans if n not in inside)))
    return (*opening, *closing), deciding


def _outermost(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions that are in no other one."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _outermost(child)


def _has_any(text: str, function: ast.AST, tests: Iterable[RewrittenTest]) -> bool:
    assert isinstance(function, _Function)
    start, end = span(text, function)
    return any(start <= each.start < end for each in tests)


def _comparisons(node: ast.AST) -> Iterator[ast.Compare]:
    """Yield the comparisons of two values that can be ordered."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _ORDERED):
        yield node
    for child in ast.iter_child_nodes(node) if not isinstance(node, ast.JoinedStr) else ():
        yield from _comparisons(child)
