"""Formats new expressions and statements."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import INDENT, Edit, replace_lines
from fullgraph.fix.source.text import (
    comments_between,
    indent_of,
    last_line,
    owns_its_lines,
    source_line,
    source_of,
    split_lines,
)

_WIDTH = 100
# Expressions that an attribute or an operator can follow without brackets.
ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)


def one_line(text: str, node: ast.expr) -> str:
    """Return an expression on one line: as it is written if it is on one line already."""
    written = source_of(text, node) if getattr(node, "end_lineno", None) else ""
    return written if written and "\n" not in written else ast.unparse(node)


def new_expression(text: str) -> ast.expr:
    """Return the node of an expression that is not in the file."""
    node = ast.parse(text, mode="eval").body
    del node.end_lineno
    return node


def call_lines(start: str, function: str, arguments: Sequence[str], room: int) -> list[str]:
    """Return `start function(arguments)`, on several lines if it is too long for one."""
    line = f"{start}{function}({', '.join(arguments)})"
    if len(line) <= room:
        return [line]
    return [f"{start}{function}(", *(f"{INDENT}{each}," for each in arguments), ")"]


def where_lines(start: str, condition: str, one: str, other: str, room: int) -> list[str]:
    """Return `start torch.where(condition, one, other)`."""
    return call_lines(start, "torch.where", [condition, one, other], room)


def indented(lines: Sequence[str]) -> list[str]:
    """Return lines one level deeper."""
    return [f"{INDENT}{line}" if line else line for line in lines]


def conditional_expression(text: str, node: ast.expr, one: str, test: str, other: str) -> str:
    """Return `one if test else other` in the place of a node, on several lines if it is long."""
    choice = f"{one} if {test} else {other}"
    line = source_line(text, node.lineno)
    if "\n" not in choice and len(line) + len(choice) - len(source_of(text, node)) <= _WIDTH:
        return choice
    indent = line[: len(line) - len(line.lstrip())]
    inner = f"\n{indent}{INDENT}"
    return f"({inner}{one}{inner}if {test}{inner}else {other}\n{indent})"


def room_at(text: str, statement: ast.stmt) -> int:
    """Return how many characters fit on a line at a statement's indentation."""
    return _WIDTH - len(indent_of(text, statement))


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines of a text without their common indentation and their ends."""
    return textwrap.dedent("".join(lines)).strip("\n").split("\n")


def statement_lines(text: str, statements: Sequence[ast.stmt]) -> list[str]:
    """Return statements as they are written, dedented."""
    return dedented(split_lines(text)[statements[0].lineno - 1 : last_line(statements[-1])])


def replace_statements(text: str, statements: Sequence[ast.stmt], new: Sequence[str]) -> Edit:
    """Replace neighboring statements with other lines; their comments stay, above the new lines.

    Declined is raised if another statement shares their lines.
    """
    for statement in (statements[0], statements[-1]):
        if not owns_its_lines(text, statement):
            raise Declined("another statement is on the same line", statement)
    first, last = statements[0].lineno, last_line(statements[-1])
    comments = comments_between(text, first, last)
    lines = [*(each for each in comments if not any(each in line for line in new)), *new]
    if source_line(text, first).lstrip().startswith("elif"):
        lines = ["else:", *indented(lines)]
    indent = indent_of(text, statements[0])
    return replace_lines(text, first, last, [f"{indent}{each}" if each else "" for each in lines])
