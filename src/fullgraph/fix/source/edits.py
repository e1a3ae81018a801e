"""Small changes of a file's text, at nodes of its syntax tree; all the rest stays as it is."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import FilePatch
from fullgraph.fix.source.text import lines_of, parsed, with_imports

_INDENT = "    "


def tree_of(text: str) -> ast.Module | None:
    try:
        return parsed(text)
    except (SyntaxError, ValueError):
        return None


def patched(spot: Spot, text: str, *imports: str) -> FilePatch:
    """The file with another text, and with the imports that it needs."""
    new, added = with_imports(text, imports)
    return FilePatch(spot.cause.file, new, added)


# Finding


def nodes_at(tree: ast.AST, line: int, column: int | None, text: str = "") -> list[ast.expr]:
    """The expressions around a position (both from 1), the innermost first.

    A column counts characters and a tree counts bytes; with the text they are the same.
    """
    if column is not None and text:
        column = len(lines_of(text)[line - 1][: column - 1].encode()) + 1
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and _covers(node, line, column)
    ]
    return sorted(
        found, key=lambda node: (-node.lineno, -node.col_offset, node.end_col_offset or 0)
    )


def _covers(node: ast.expr, line: int, column: int | None) -> bool:
    last = node.end_lineno or node.lineno
    if not node.lineno <= line <= last:
        return False
    if column is None:
        return True
    starts_after = node.lineno == line and node.col_offset > column - 1
    ends_before = last == line and (node.end_col_offset or 0) < column
    return not starts_after and not ends_before


def calls_at(spot: Spot, tree: ast.AST) -> list[ast.Call]:
    """The calls around the break, the innermost first."""
    found = nodes_at(tree, spot.cause.line, spot.cause.column, spot.text)
    return [node for node in found if isinstance(node, ast.Call)]


def statements_at(tree: ast.AST, line: int) -> list[ast.stmt]:
    """The statements around a line, the innermost first."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True)


def function_at(tree: ast.AST, line: int) -> ast.FunctionDef | None:
    """The innermost function around a line."""
    return next((s for s in statements_at(tree, line) if isinstance(s, ast.FunctionDef)), None)


# Changing


def source_of(text: str, node: ast.expr | ast.stmt) -> str:
    start, end = span(text, node)
    return text[start:end]


def span(text: str, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Where a node's text starts and ends, in characters."""
    lines = lines_of(text)
    return (
        _offset(lines, node.lineno, node.col_offset),
        _offset(lines, node.end_lineno or node.lineno, node.end_col_offset or 0),
    )


def _offset(lines: list[str], line: int, in_bytes: int) -> int:
    before = sum(map(len, lines[: line - 1]))
    return before + len(lines[line - 1].encode()[:in_bytes].decode(errors="ignore"))


def swapped(text: str, changes: Iterable[tuple[ast.expr | ast.stmt, str]]) -> str:
    """The text with other words for some nodes, which do not overlap."""
    places = sorted(((*span(text, node), new) for node, new in changes), reverse=True)
    for start, end, new in places:
        text = text[:start] + new + text[end:]
    return text


def stands_alone(text: str, statement: ast.stmt) -> bool:
    """Whether no other statement shares its lines."""
    lines = lines_of(text)
    before = lines[statement.lineno - 1].encode()[: statement.col_offset]
    after = lines[(statement.end_lineno or 0) - 1].encode()[statement.end_col_offset or 0 :]
    rest = after.strip()
    return not before.strip() and (not rest or rest.startswith(b"#"))


def put_under(text: str, statements: list[ast.stmt], header: str) -> str:
    """The text with these neighbours indented under a new line."""
    lines = lines_of(text)
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    indent = _indent_of(lines[first - 1])
    inside = _lines_within_strings(text)
    body = [
        lines[number - 1]
        if number in inside or not lines[number - 1].strip()
        else _INDENT + lines[number - 1]
        for number in range(first, last + 1)
    ]
    if not body[-1].endswith("\n") and last < len(lines):
        body[-1] += "\n"
    return "".join([*lines[: first - 1], f"{indent}{header}\n", *body, *lines[last:]])


def without(text: str, statement: ast.stmt) -> str:
    """The text without the lines of a statement."""
    lines = lines_of(text)
    last = statement.end_lineno or statement.lineno
    return "".join([*lines[: statement.lineno - 1], *lines[last:]])


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def indent_of(text: str, statement: ast.stmt) -> str:
    return _indent_of(lines_of(text)[statement.lineno - 1])


def _lines_within_strings(text: str) -> set[int]:
    """Lines that start inside a string: their first characters belong to it."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        # From Python 3.12 on, f-strings are several tokens.
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE", "FSTRING_END"):
            found.update(range(token.start[0] + 1, token.end[0] + 1))
    return found


def body_around(tree: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that a statement is in."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and any(each is statement for each in value):
                return value
    return []
