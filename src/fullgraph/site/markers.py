"""Find additional information in a file, between two markers that may be damaged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

START = "<!-- ADDITIONAL INFORMATION START - Add custom information below this line -->"
END = "<!-- ADDITIONAL INFORMATION END -->"
_MARKER = re.compile(r"<!--[ \t]*ADDITIONAL INFORMATION (START|END)\b(?:(?!-->)[^\r\n])*-->")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")
# Text of the original site around the information, for files with damaged markers.
_HEADING = re.compile(r"^## Additional Information[ \t]*\r?$", re.MULTILINE)
_TRAILER = re.compile(r"^\[Click here to add Additional Info\]", re.MULTILINE)


class Marker(NamedTuple):
    """A marker in a file."""

    kind: str  # START or END
    start: int
    end: int
    in_code: bool


class Section(NamedTuple):
    """The text between the markers, and what is wrong with them."""

    text: str
    problem: str
    # From the first marker to the last, inclusive; empty if the markers are damaged.
    whole: str = ""


def find_section(text: str) -> Section:
    """Return the section of a file."""
    markers = list(_markers(text))
    problem = _problem(markers)
    if not problem:
        first, last = markers
        return Section(text[first.end : last.start], "", text[first.start : last.end])
    return Section(_what_can_be_shown(text, markers), problem)


def _markers(text: str) -> Iterator[Marker]:
    fence = ""
    for start, line in _lines(text):
        opening = _FENCE.match(line)
        if opening and not fence and not ("`" in opening[1] and "`" in opening[2]):
            fence = opening[1]
        elif opening and fence and opening[1].startswith(fence) and not opening[2].strip():
            fence = ""
        for match in _MARKER.finditer(line):
            indented = re.match(r" {4}| {0,3}\t", line) is not None
            quoted = line[: match.start()].endswith("`") and line[match.end() :].startswith("`")
            in_code = bool(fence) or indented or quoted
            yield Marker(match[1], start + match.start(), start + match.end(), in_code)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Return lines as Markdown counts them: `splitlines` finds more."""
    for match in _LINE.finditer(text):
        yield match.start(), match[0]


def _problem(markers: list[Marker]) -> str:
    kinds = [marker.kind for marker in markers if not marker.in_code]
    starts, ends = kinds.count("START"), kinds.count("END")
    if any(marker.in_code for marker in markers):
        return "a marker is in a code block"
    if not kinds:
        return "it has no markers"
    if not starts or not ends:
        return f"its {'end' if starts else 'start'} marker is missing"
    if kinds == ["START", "END"]:
        return ""
    if kinds == ["END", "START"]:
        return "its end marker comes before its start marker"
    if "START START END END" in " ".join(kinds):
        return "its markers are nested"
    name = "start" if starts > ends else "end" if ends > starts else "start and end"
    return f"it has {max(starts, ends)} {name} markers"


def _what_can_be_shown(text: str, markers: list[Marker]) -> str:
    starts = _best(markers, "START")
    ends = _best(markers, "END")
    if starts and ends and starts[0].start < ends[-1].start:
        first, last = starts[0].end, ends[-1].start
    elif starts and ends:
        first, last = ends[0].end, starts[-1].start
    elif starts:
        trailer = _TRAILER.search(text, starts[0].end)
        first, last = starts[0].end, trailer.start() if trailer else len(text)
    elif ends:
        headings = [match.end() for match in _HEADING.finditer(text, 0, ends[-1].start)]
        first, last = max(headings, default=0), ends[-1].start
    else:
        first, last = 0, len(text)
    inside = [m for m in markers if first <= m.start < last and not m.in_code]
    for marker in reversed(inside):
        text = text[: marker.start] + text[marker.end :]
        last -= marker.end - marker.start
    return text[first:last]


def _best(markers: list[Marker], kind: str) -> list[Marker]:
    """Return the markers outside of code blocks, or if there are none, those inside."""
    same = [marker for marker in markers if marker.kind == kind]
    return [marker for marker in same if not marker.in_code] or same
