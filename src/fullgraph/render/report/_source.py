"""The line that the report shows for a break or an error, with the source around it."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.model.events import SourceLine
from fullgraph.model.report import BreakSite, Failure
from fullgraph.terminal import clean


class Location(NamedTuple):
    """A location with the source around it. Columns are None where they are not known."""

    file: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None
    excerpt: tuple[SourceLine, ...]


class Row(NamedTuple):
    """One line of source; `pointer` is `^^^^` for the row below it, or empty."""

    number: int
    text: str
    is_marked: bool
    pointer: str


def shown_location(finding: BreakSite | Failure) -> Location:
    """Return the nearest location that a reader can open and edit."""
    frame = finding.shown
    if frame is None:
        return stopped_at(finding)
    # Only one line is known, without its indentation, so the columns do not apply.
    excerpt = (SourceLine(frame.line, frame.code),) if frame.code else ()
    return Location(frame.file, frame.line, None, None, None, excerpt)


def stopped_at(finding: BreakSite | Failure) -> Location:
    """Return the location where Dynamo stopped."""
    return Location(
        finding.file,
        finding.line,
        finding.column,
        finding.end_line,
        finding.end_column,
        finding.excerpt,
    )


def text_of(site: BreakSite) -> str:
    """Return what is known about a break: its type, its explanation and its lines of code."""
    last = site.end_line or site.line
    lines = [each.text for each in site.excerpt if site.line <= each.number <= last]
    frames = [frame.code for frame in (site.shown, site.via) if frame is not None]
    return "\n".join([site.type, site.explanation, *lines, *frames])


def line_of(location: Location) -> str:
    """Return the line at a location without indentation; empty if it is not known."""
    return next((e.text.strip() for e in location.excerpt if e.number == location.line), "")


def source_rows(location: Location) -> Iterator[Row]:
    """Yield the lines around a location; nothing if its own line is not known."""
    last = max(location.end_line or location.line, location.line) + 1
    lines = [each for each in location.excerpt if each.number <= last]
    if not any(each.number == location.line for each in lines):
        return
    texts = [clean(each.text).replace("\n", " ") for each in lines]
    for line, text in zip(lines, _dedented(texts), strict=True):
        is_marked = line.number == location.line
        if is_marked or line.number > location.line or text.strip():
            below = _pointer(location, line.text, text) if is_marked else ""
            yield Row(line.number, text, is_marked, below)


def _dedented(texts: list[str]) -> list[str]:
    return textwrap.dedent("\n".join(texts)).split("\n")


def _pointer(location: Location, line: str, shown: str) -> str:
    """Return `^^^^` under the part of the line that breaks; empty if it is not in the line."""
    column = location.column
    if column is None or not 1 <= column <= len(line):
        return ""
    removed = len(clean(line)) - len(shown)
    before = clean(line[: column - 1])[removed:]
    is_one_line = location.end_line is None and location.end_column
    end = location.end_column if is_one_line and location.end_column else len(line.rstrip()) + 1
    marked = clean(line[column - 1 : max(end - 1, column)])
    return " " * _columns(before) + "^" * max(1, _columns(marked))


def _columns(text: str) -> int:
    """Return how many columns a terminal uses for `text`."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
