"""Read Python source files: their text, lines and syntax trees, and where columns are."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from functools import lru_cache

# By their real paths, texts that a program runs in place of those of its files.
_replaced: dict[str, str] = {}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def read_source(path: str) -> str | None:
    """Return a file's text with `\\n` as the line ending; None if it is not readable.

    A byte order mark is left out, and the encoding is the one that the file declares.
    """
    # Reports of programs without source need neither.
    import tokenize

    if _replaced and (text := _replaced.get(os.path.realpath(path))) is not None:
        return text
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None


def replace_sources(texts: Mapping[str, str]) -> None:
    """Read these texts, by their real paths, in place of the files; also in forks."""
    _replaced.update(texts)


def read_with_line_ends(path: str) -> tuple[str, str]:
    """Return a file's text as it is, without a byte order mark, and the encoding to write it with.

    SyntaxError or UnicodeDecodeError is raised if the file is not in the encoding that it declares.
    """
    import tokenize

    with open(path, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
    with open(path, encoding=encoding, newline="") as text:
        return text.read(), encoding


@lru_cache(maxsize=64)
def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a file; None if Python does not accept it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def split_lines(text: str) -> list[str]:
    """Return the lines as Python counts them, with their ends; `str.splitlines` counts others."""
    return _LINE.findall(text)


@lru_cache(maxsize=64)
def line_starts(text: str) -> tuple[int, ...]:
    """Return the offset of the start of each line, then that of the text's end."""
    starts = [0]
    for line in split_lines(text):
        starts.append(starts[-1] + len(line))
    return tuple(starts)


def source_line(text: str, line: int) -> str:
    """Return a line without its end; empty if there is no such line."""
    starts = line_starts(text)
    if not 0 < line < len(starts):
        return ""
    return text[starts[line - 1] : starts[line]].rstrip("\n")


def byte_column(text: str, line: int, column: int) -> int:
    """Return a column as a syntax tree counts it: in bytes, from 0."""
    return len(source_line(text, line)[: column - 1].encode())


def imports_of(tree: ast.AST) -> dict[str, str]:
    """Return what each imported name refers to: `np` → `numpy`, `deepcopy` → `copy.deepcopy`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                found[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found
