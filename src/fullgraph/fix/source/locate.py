"""Find the nodes of a syntax tree at a line or a position.

Lines and columns count from 1, and columns count characters, as in reports. Syntax trees count
columns in bytes; the difference is handled here and nowhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.python_source import byte_column as byte_column


def nodes_at(tree: ast.AST, line: int, column: int | None, text: str) -> list[ast.expr]:
    """Return the expressions around a position, or on a line without one; the innermost first."""
    in_bytes = None if column is None else byte_column(text, line, column)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and _touches(node, line, in_bytes)
    ]
    return sorted(
        found, key=lambda node: (-node.lineno, -node.col_offset, node.end_col_offset or 0)
    )


def _touches(node: ast.expr, line: int, in_bytes: int | None) -> bool:
    """Return whether a position is in a node, or right behind it."""
    last = node.end_lineno or node.lineno
    if not node.lineno <= line <= last:
        return False
    if in_bytes is None:
        return True
    starts_after = node.lineno == line and node.col_offset > in_bytes
    ends_before = last == line and (node.end_col_offset or 0) <= in_bytes - 1
    return not starts_after and not ends_before


def covers(node: ast.expr | ast.stmt, line: int, in_bytes: int) -> bool:
    """Return whether a position (as a syntax tree counts it) is inside a node."""
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= (line, in_bytes) < end


def statements_at(tree: ast.AST, line: int) -> list[ast.stmt]:
    """Return the statements around a line, the innermost first."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True)


def function_at(tree: ast.AST, line: int) -> ast.FunctionDef | None:
    """Return the innermost function around a line; None at module level and in a coroutine."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for statement in statements_at(tree, line):
        if isinstance(statement, functions):
            return statement if isinstance(statement, ast.FunctionDef) else None
    return None


def class_at(tree: ast.AST, line: int) -> str:
    """Return the qualified name of the class around a line; empty without one."""
    around = [s.name for s in statements_at(tree, line) if isinstance(s, ast.ClassDef)]
    return ".".join(reversed(around))


def statement_of(tree: ast.AST, node: ast.AST) -> ast.stmt:
    """Return the innermost statement that contains a node."""
    return next(each for each in parents_of(tree, node) if isinstance(each, ast.stmt))


def parents_of(tree: ast.AST, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes around a node, the innermost first."""
    above = {
        id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)
    }
    while id(node) in above:
        node = above[id(node)]
        yield node


def body_around(tree: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """Return the list of statements that a statement is in; empty if it is not in the tree."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and any(each is statement for each in value):
                return value
    return []
