"""The text of a source file: how it is read, its lines, offsets and line endings."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from fullgraph.python_source import line_starts
from fullgraph.python_source import parse as parse
from fullgraph.python_source import read_source as read_source
from fullgraph.python_source import source_line as source_line
from fullgraph.python_source import split_lines as split_lines

_INDENTATION = re.compile(r"[ \t\f]*")
# From Python 3.12 on, an f-string is several tokens.
_STRING_TOKENS = ("STRING", "FSTRING_MIDDLE", "FSTRING_END")

Node = ast.expr | ast.stmt | ast.keyword


def line_start(text: str, line: int) -> int:
    """Return the offset of the first character of a line (from 1), or of the text's end."""
    starts = line_starts(text)
    return starts[min(line, len(starts)) - 1]


def line_at(text: str, offset: int) -> int:
    """Return the line (from 1) that an offset is in."""
    return text.count("\n", 0, offset) + 1


def offset_at(text: str, line: int, byte_column: int) -> int:
    """Return the offset of a position of a syntax tree, which counts columns in bytes."""
    before = source_line(text, line).encode()[:byte_column]
    return line_start(text, line) + len(before.decode(errors="ignore"))


def span(text: str, node: Node) -> tuple[int, int]:
    """Return the offsets at which a node's text starts and ends."""
    return (
        offset_at(text, node.lineno, node.col_offset),
        offset_at(text, node.end_lineno or node.lineno, node.end_col_offset or 0),
    )


def source_of(text: str, node: Node) -> str:
    """Return a node as it is written."""
    start, end = span(text, node)
    return text[start:end]


def last_line(statement: ast.stmt) -> int:
    """Return the line at which a statement ends."""
    return statement.end_lineno or statement.lineno


def indent_of(text: str, statement: ast.stmt) -> str:
    """Return the white space at the start of a statement's first line."""
    match = _INDENTATION.match(source_line(text, statement.lineno))
    return match[0] if match else ""


def owns_its_lines(text: str, statement: ast.stmt) -> bool:
    """Return whether no other statement shares the lines of a statement."""
    before = source_line(text, statement.lineno).encode()[: statement.col_offset]
    after = source_line(text, last_line(statement)).encode()[statement.end_col_offset or 0 :]
    rest = after.strip()
    return not before.strip() and (not rest or rest.startswith(b"#"))


def comment_lines(text: str, first: int, last: int) -> list[str]:
    """Return the comments on some lines, each as a line of its own."""
    line = source_line(text, first)
    indent = line[: len(line) - len(line.lstrip())]
    return [
        f"{indent}{token.string}"
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and first <= token.start[0] <= last
    ]


def lines_inside_strings(text: str) -> set[int]:
    """Return the lines that start inside a string: their first characters belong to it."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] in _STRING_TOKENS:
            found.update(range(token.start[0] + 1, token.end[0] + 1))
    return found


def comments_between(text: str, first: int, last: int) -> list[str]:
    """Return the comments on the lines from `first` to `last`."""
    return [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and first <= token.start[0] <= last
    ]
