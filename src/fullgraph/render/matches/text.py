"""The breaks in a text for a terminal: the best entry of each in full."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.registry.match import Found
from fullgraph.registry.pages import Page
from fullgraph.render._lines import joined
from fullgraph.render.entry._page import page_lines
from fullgraph.render.matches import Matches
from fullgraph.terminal import Terminal


def render(
    matches: Matches,
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    **_: object,
) -> str:
    """Return the entries, in the order of their breaks in the text."""
    return joined(_lines(matches, Terminal(width, color, cut=is_terminal)))


def _lines(matches: Matches, terminal: Terminal) -> Iterator[str]:
    count = len(matches.found)
    if count > 1:
        yield f"This text has {count} breaks; the first is usually the root cause."
        yield ""
    for number, found in enumerate(matches.found):
        if number:
            yield from ("", "─" * min(terminal.width, 80), "")
        if found.ambiguous:
            yield from _candidate_lines(found, matches.pages, terminal)
        yield from page_lines(matches.pages[found.candidates[0].id], terminal)


def _candidate_lines(found: Found, pages: dict[str, Page], terminal: Terminal) -> Iterator[str]:
    by, count = found.candidates[0].by, len(found.candidates)
    yield f"Its {by} matches {count} entries; the first is shown in full."
    for candidate in found.candidates:
        page = pages[candidate.id]
        yield terminal.clipped(f"  {page.id}  {page.type}")
    yield ""
