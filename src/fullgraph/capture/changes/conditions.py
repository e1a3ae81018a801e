"""Changes that a condition on sizes and numbers describes, such as `2 <= x.size()[0]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.capture.changes.aliases import alias_change
from fullgraph.capture.changes.failed_guard import (
    KINDS,
    FailedGuard,
    evaluated_text,
    new_change,
)
from fullgraph.capture.guard_lines import without_comment
from fullgraph.capture.guard_sources import FrameFacts, readable
from fullgraph.model.events import ChangeKind, GuardChange

_ZERO_D = "the value of a 0-d tensor"


class _Symbol(NamedTuple):
    """A number in a condition: a size or a stride of a tensor, its value, or a Python number."""

    kind: ChangeKind
    source: str
    expression: str
    dim: int | None = None
    note: str = ""


def condition_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of the first number in a condition that no longer holds."""
    condition = without_comment(guard.part)
    try:
        tree = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError):
        return new_change(guard, frame, "other", "", "")
    match tree:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
            sources = [ast.unparse(left), ast.unparse(right)]
            what = evaluated_text(sources[0], frame).rpartition(" ")[2]
            what = what if what == "tensor" else "object"
            texts = (f"one {what}", f"different {what}s")
            before, now = texts if isinstance(op, ast.Is) else texts[::-1]
            return alias_change(guard, frame, sources, before, now)
    symbol = next(_symbols(tree), None)
    if symbol is None:
        return new_change(guard, frame, "other", readable(condition, frame), "")
    now = evaluated_text(symbol.expression, frame)
    before = _allowed(tree, symbol, frame)
    kind = _kind_of_number(symbol, frame)
    return new_change(guard, frame, kind, before, now, symbol.dim, symbol.note, symbol.source)


def _symbols(node: ast.AST) -> Iterator[_Symbol]:
    """Yield the numbers in a condition, in the order in which they are written."""
    match node:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=inner, attr="size" | "stride" as what)),
            slice=ast.Constant(value=int(dim)),
        ):
            kind: ChangeKind = "size" if what == "size" else "stride"
            yield _Symbol(kind, ast.unparse(inner), ast.unparse(node), dim)
        case ast.Call(func=ast.Attribute(value=inner, attr="storage_offset")):
            yield _Symbol("stride", ast.unparse(inner), ast.unparse(node))
        case ast.Call(func=ast.Attribute(attr="item")):
            text = ast.unparse(node)
            yield _Symbol("int", text, text, note=_ZERO_D)
        case ast.Subscript(value=ast.Name(id="L" | "G")) | ast.Attribute() | ast.Subscript():
            yield _Symbol("int", ast.unparse(node), ast.unparse(node))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _symbols(child)


def _kind_of_number(symbol: _Symbol, frame: FrameFacts) -> ChangeKind:
    if symbol.kind != "int":
        return symbol.kind
    try:
        return KINDS.get(type(frame.evaluate(symbol.expression)), "other")
    except Exception:
        return "other"


def _allowed(tree: ast.expr, symbol: _Symbol, frame: FrameFacts) -> str:
    """Return what a condition allows for a number, such as `2` or `at least 2`."""
    match tree:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            texts = {ast.unparse(left): right, ast.unparse(right): left}
            other = texts.get(symbol.expression)
            if other is None:
                return readable(ast.unparse(tree), frame)
            limit = readable(ast.unparse(other), frame)
            is_left = ast.unparse(left) == symbol.expression
            return _bound(op, limit, is_left) or readable(ast.unparse(tree), frame)
    return readable(ast.unparse(tree), frame)


def _bound(op: ast.cmpop, limit: str, is_left: bool) -> str:
    match op, is_left:
        case ast.Eq(), _:
            return limit
        case ast.NotEq(), _:
            return f"not {limit}"
        case (ast.LtE(), True) | (ast.GtE(), False):
            return f"at most {limit}"
        case (ast.LtE(), False) | (ast.GtE(), True):
            return f"at least {limit}"
        case (ast.Lt(), True) | (ast.Gt(), False):
            return f"less than {limit}"
        case (ast.Lt(), False) | (ast.Gt(), True):
            return f"more than {limit}"
    return ""
