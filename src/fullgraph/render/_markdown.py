"""Our own Markdown pages for a terminal: headings, paragraphs, lists, tables and code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from fullgraph.terminal import Terminal, clean

_INDENT = " " * 4
_FENCE = "```"
_HEADING = re.compile(r"#+ +(.*)")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_COLUMN = re.compile(r"(?<!\\)\|")
_BETWEEN_COLUMNS = "  "
# A table that is too wide wraps its cells; narrower columns than this are not wrapped.
_NARROWEST = 20


def markdown_lines(text: str, terminal: Terminal) -> Iterator[str]:
    """Yield the lines that show a page; all but code fits into the width."""
    for block in _blocks(text):
        first = block[0]
        heading = _HEADING.fullmatch(first)
        if heading:
            yield terminal.style(clean(heading[1]), "bold")
        elif first.startswith(_FENCE):
            yield from (f"{_INDENT}{clean(line)}".rstrip() for line in block[1:])
        elif first.startswith("|"):
            yield from _table(block, terminal)
        else:
            yield from _paragraph(block, terminal)
        yield ""


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each block; those of code start with its fence and lack the last one."""
    block: list[str] = []
    in_code = False
    for line in text.splitlines():
        ends_code = in_code and line.startswith(_FENCE)
        if ends_code or (not in_code and not line.strip()):
            if block:
                yield block
            block, in_code = [], False
            continue
        in_code = in_code or line.startswith(_FENCE)
        block.append(line)
        if not in_code and _HEADING.fullmatch(line):
            yield block
            block = []
    if block:
        yield block


def _paragraph(lines: Sequence[str], terminal: Terminal) -> Iterator[str]:
    """Yield a paragraph, or the items of a list, each on lines of its own."""
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(line)
        else:
            items[-1] += f" {line.strip()}"
    for item in items:
        yield from terminal.wrapped(item, "", "  " if _ITEM.match(item) else "")


def _table(lines: Sequence[str], terminal: Terminal) -> Iterator[str]:
    """Yield the rows; cells are wrapped so that the table fits."""
    rows = [_cells(line) for line in lines]
    head, body = (
        rows[0],
        [row for row in rows[1:] if not all(set(cell) <= set(":-") for cell in row)],
    )
    widths = _widths([head, *body], terminal.width)
    yield from (terminal.style(line, "bold") for line in _row(head, widths))
    for row in body:
        yield from _row(row, widths)


def _cells(line: str) -> list[str]:
    cells = _COLUMN.split(line.strip().removeprefix("|").removesuffix("|"))
    return [clean(cell.strip().replace("\\|", "|")) for cell in cells]


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the columns. If they do not fit, the widest one gets what is left."""
    natural = [max(map(len, cells)) for cells in zip_longest(*rows, fillvalue="")]
    free = width - len(_BETWEEN_COLUMNS) * (len(natural) - 1)
    if sum(natural) <= free:
        return natural
    widest = natural.index(max(natural))
    capped = [min(each, _NARROWEST) for each in natural]
    capped[widest] = max(free - sum(capped) + capped[widest], _NARROWEST)
    return capped


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [
        textwrap.wrap(cell, width, break_on_hyphens=False, break_long_words=False)
        for cell, width in zip(cells, widths, strict=False)
    ]
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = (f"{part:<{width}}" for part, width in zip(parts, widths, strict=False))
        yield _BETWEEN_COLUMNS.join(padded).rstrip()
