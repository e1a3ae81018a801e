"""Order of statements in a function, and the names that a statement always binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.names import stored_names


def path_to(function: ast.FunctionDef, statement: ast.stmt) -> list[tuple[list[ast.stmt], int]]:
    """Return the lists of statements around a statement, from the outermost.

    Each comes with the position of the statement that contains the next list. Empty if the
    function does not contain the statement.
    """
    found = _path(function.body, statement)
    return found or []


def _path(body: list[ast.stmt], wanted: ast.stmt) -> list[tuple[list[ast.stmt], int]] | None:
    for number, each in enumerate(body):
        if each is wanted:
            return [(body, number)]
        for inner in inner_bodies(each):
            found = _path(inner, wanted)
            if found:
                return [(body, number), *found]
    return None


def inner_bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements inside a statement; none for functions and classes."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(statement, name, None)
        if isinstance(inner, list) and inner:
            yield inner
    for handler in getattr(statement, "handlers", []):
        yield handler.body
    for case in getattr(statement, "cases", []):
        yield case.body


def computed_by(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions that a statement computes on every path through it."""
    if isinstance(statement, ast.Assign | ast.AugAssign):
        return [statement.value]
    if isinstance(statement, ast.AnnAssign | ast.Expr | ast.Return):
        return [statement.value] if statement.value else []
    return []


def always_bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds on every path through it."""
    if isinstance(statement, ast.If):
        return _bound_by(statement.body) & _bound_by(statement.orelse)
    if isinstance(statement, ast.With):
        return _bound_by(statement.body)
    if any(True for _ in inner_bodies(statement)):
        return set()
    return stored_names(statement)


def _bound_by(body: list[ast.stmt]) -> set[str]:
    return set().union(*(always_bound(each) for each in body)) if body else set()
