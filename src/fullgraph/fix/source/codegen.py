"""Statements as text, in the place of others."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

from fullgraph.fix.source.edits import indent_of, source_of, stands_alone
from fullgraph.fix.source.text import lines_of

_WIDTH = 100
_STEP = "    "


def text_of(text: str, node: ast.expr) -> str:
    """An expression as it is written; on one line, if it was made here or goes over several."""
    written = source_of(text, node) if getattr(node, "end_lineno", None) else ""
    return written if written and "\n" not in written else ast.unparse(node)


def made(text: str) -> ast.expr:
    """An expression that is nowhere in the file."""
    node = ast.parse(text, mode="eval").body
    del node.end_lineno
    return node


def call(start: str, function: str, arguments: list[str], room: int) -> list[str]:
    """`start function(arguments)`, on several lines where it is too long for one."""
    line = f"{start}{function}({', '.join(arguments)})"
    if len(line) <= room:
        return [line]
    return [f"{start}{function}(", *(f"{_STEP}{each}," for each in arguments), ")"]


def where(start: str, condition: str, one: str, other: str, room: int) -> list[str]:
    return call(start, "torch.where", [condition, one, other], room)


def indented(lines: list[str]) -> list[str]:
    return [f"{_STEP}{line}" if line else line for line in lines]


def room_at(text: str, statement: ast.stmt) -> int:
    return _WIDTH - len(indent_of(text, statement))


def dedented(lines: list[str]) -> list[str]:
    """Lines of a text, without their ends."""
    return textwrap.dedent("".join(lines)).strip("\n").split("\n")


def written(text: str, statements: list[ast.stmt]) -> list[str]:
    """Statements as they are written, dedented."""
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    return dedented(lines_of(text)[first - 1 : last])


def replaced(text: str, statements: list[ast.stmt], new: list[str]) -> str | None:
    """The text with other lines for some neighbours; the comments among them go in front."""
    if not all(stands_alone(text, each) for each in (statements[0], statements[-1])):
        return None
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    lines = lines_of(text)
    indent = indent_of(text, statements[0])
    lost = [each for each in _comments(lines, first, last) if not any(each in line for line in new)]
    new = [*lost, *new]
    if lines[first - 1].lstrip().startswith("elif"):
        new = ["else:", *indented(new)]
    end = "\n" if lines[last - 1].endswith("\n") else ""
    body = "\n".join(f"{indent}{line}" if line else line for line in new) + end
    return "".join([*lines[: first - 1], body, *lines[last:]])


def _comments(lines: list[str], first: int, last: int) -> list[str]:
    found = tokenize.generate_tokens(io.StringIO("".join(lines)).readline)
    return [
        token.string
        for token in found
        if token.type == tokenize.COMMENT and first <= token.start[0] <= last
    ]
