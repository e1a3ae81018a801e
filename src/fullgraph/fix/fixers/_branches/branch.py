"""The branch that a break is about."""

from __future__ import annotations

import ast

from msgspec import Struct

from fullgraph.fix.fixers import Spot
from fullgraph.fix.source.edits import tree_of
from fullgraph.fix.source.inference.scope import Scope

Tested = ast.If | ast.IfExp | ast.Assert | ast.While

_BRANCHING = "GB0170"
_ITEM = "GB0124"
_OPERATOR = "GB0033"


class Place(Struct, frozen=True):
    """A statement or an expression with a test on a tensor."""

    node: Tested
    # The statement that it is, or is in.
    statement: ast.stmt
    scope: Scope
    text: str
    # The part of the test that Dynamo stopped at.
    operand: ast.expr
    # A number that Dynamo has a symbol for, and not a tensor.
    symbol: bool


def place_of(spot: Spot) -> Place | None:
    """The innermost test that contains the break; None if the break is not about a test."""
    cause = spot.cause
    if cause.id not in (_BRANCHING, _ITEM, _OPERATOR):
        return None
    tree = tree_of(spot.text)
    function = function_at(tree, cause.line) if tree else None
    if tree is None or function is None:
        return None
    node = _tested_at(function, spot)
    if node is None:
        return None
    return Place(
        node=node,
        statement=node if isinstance(node, ast.stmt) else _statement_of(function, node),
        scope=Scope(tree, function),
        text=spot.text,
        operand=_operand(node.test, spot),
        symbol="SymNode" in cause.context,
    )


def function_at(tree: ast.Module, line: int) -> ast.FunctionDef | None:
    """The innermost function around a line; None in a lambda or a coroutine."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    innermost = max(found, key=lambda node: node.lineno, default=None)
    return innermost if isinstance(innermost, ast.FunctionDef) else None


def _tested_at(function: ast.FunctionDef, spot: Spot) -> Tested | None:
    line, column = spot.cause.line, (spot.cause.column or 1) - 1
    tested = [node for node in ast.walk(function) if isinstance(node, Tested)]
    around = [node for node in tested if _covers(node.test, line, column)]
    if around:
        return max(around, key=lambda node: (node.test.lineno, node.test.col_offset))
    # `if not x` is reported for the whole statement.
    starting = [node for node in tested if (node.lineno, node.col_offset) == (line, column)]
    return starting[0] if starting else None


def _covers(node: ast.expr, line: int, column: int) -> bool:
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= (line, column) < end


def _operand(test: ast.expr, spot: Spot) -> ast.expr:
    """The operand of `and` and `or` that the break is in; the test itself without one."""
    while isinstance(test, ast.BoolOp):
        line, column = spot.cause.line, (spot.cause.column or 1) - 1
        last = (spot.cause.end_line or line, (spot.cause.end_column or column + 2) - 2)
        inside = [v for v in test.values if _covers(v, line, column) and _covers(v, *last)]
        if not inside:
            return test
        test = inside[0]
    return test


def _statement_of(function: ast.FunctionDef, node: ast.expr) -> ast.stmt:
    statements = [each for each in ast.walk(function) if isinstance(each, ast.stmt)]
    around = [each for each in statements if any(inner is node for inner in ast.walk(each))]
    return max(around, key=lambda each: (each.lineno, each.col_offset))
