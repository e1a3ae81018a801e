"""Imports and definitions that a fix adds at the top of a file."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.fix.source.edits import Edit, insert_lines
from fullgraph.fix.source.text import parse, split_lines


def missing_imports(text: str, imports: Sequence[str]) -> tuple[str, ...]:
    """Return those of some import statements that a file lacks."""
    tree = parse(text)
    present: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.ImportFrom):
            present.add(ast.unparse(node))
        elif isinstance(node, ast.Import):
            # Of `import math, torch` each by itself.
            present |= {ast.unparse(ast.Import([each])) for each in node.names}
    return tuple(each for each in imports if each not in present)


def insert_at_top(text: str, imports: Sequence[str], definitions: Sequence[str]) -> list[Edit]:
    """Insert imports and definitions below the imports of a file.

    Definitions stand below the last import of a module that they use.
    """
    tree = parse(text)
    body = tree.body if tree else []
    line = max(_last_line_of_imports(body), _last_import_used((*imports, *definitions), body)) + 1
    edits = [insert_lines(text, line, [each]) for each in imports]
    for definition in definitions:
        wanted = 2 if "\ndef " in f"\n{definition}" else 1
        lines = [*definition.split("\n"), *missing_blank_lines(text, line, wanted)]
        edits.append(insert_lines(text, line, lines))
    return edits


def missing_blank_lines(text: str, line: int, wanted: int) -> list[str]:
    """Return the empty lines to add in front of a line, so that there are at least `wanted`.

    Nothing is missing at the end of a file.
    """
    below = split_lines(text)[line - 1 :]
    present = next((number for number, each in enumerate(below) if each.strip()), wanted)
    return [""] * max(wanted - present, 0)


def _last_import_used(statements: Sequence[str], body: Sequence[ast.stmt]) -> int:
    """Return the line of the last import of a name that some statements use; 0 without one."""
    used = {
        node.id
        for statement in statements
        for node in ast.walk(ast.parse(statement.strip()))
        if isinstance(node, ast.Name)
    }
    lines = [0]
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {each.asname or each.name.partition(".")[0] for each in node.names}
            if bound & used:
                lines.append(node.end_lineno or node.lineno)
    return max(lines)


def _last_line_of_imports(body: Sequence[ast.stmt]) -> int:
    """Return the last line of the first run of imports, or of the docstring; 0 without either."""
    position = 0
    for node in body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (is_docstring and position == 0):
            position = node.end_lineno or node.lineno
        else:
            break
    return position
