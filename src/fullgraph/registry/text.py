"""Entries of the registry for a terminal: readable at 80 columns, without colour, and piped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from fullgraph.registry.pages import Page, Place, Row
from fullgraph.registry.releases import sort_key
from fullgraph.registry.templates import is_unevaluated_type

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "cyan": "36"}
_LABEL = 10
_MOST_PLACES = 4
_COSTS = {
    "one line": "one line",
    "local rewrite": "a local rewrite",
    "restructure": "restructuring",
}


class Terminal:
    """How wide lines may be, and whether they may have colours."""

    def __init__(self, width: int = 80, color: bool = False) -> None:
        self.width = max(width, 40)
        self._color = color

    def style(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._color and style else text

    def wrapped(self, text: str, first: str = "", following: str = "") -> list[str]:
        """Lines that fit; a line break in the text stays one."""
        lines: list[str] = []
        for paragraph in clean(text).split("\n"):
            lines += textwrap.wrap(
                paragraph,
                self.width,
                initial_indent=following if lines else first,
                subsequent_indent=following,
                break_on_hyphens=False,
                break_long_words=False,
            )
        return lines or [first.rstrip()]

    def labelled(self, label: str, text: str) -> list[str]:
        return self.wrapped(text, f"{label:<{_LABEL}}", " " * _LABEL)

    def clipped(self, text: str) -> str:
        return text if len(text) <= self.width else text[: self.width - 1] + "…"


def clean(text: str) -> str:
    """Text from elsewhere must not steer the terminal."""
    return _CONTROL.sub("�", text.expandtabs(4))


def page_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    """One entry, all of it."""
    for line in terminal.wrapped(page.type, f"{page.id}  ", " " * 8):
        yield terminal.style(line, "bold")
    style = "green" if page.live else "yellow"
    for line in terminal.wrapped(f"{page.category_title} · {status(page)}"):
        yield terminal.style(line, style)
    yield ""
    why = page.explanation or "torch gives no explanation of this one."
    yield from terminal.labelled("why", why)
    yield ""
    for number, way in enumerate(page.ways_out, 1):
        label = "ways out" if number == 1 else ""
        by = "" if way.source == "fullgraph" else "torch: "
        start = f"{label:<{_LABEL}}{number}. "
        yield from terminal.wrapped(by + way.text, start, " " * len(start))
    yield ""
    yield from terminal.labelled("fixable", _fixable(page))
    yield from _worded_lines(page, terminal)
    yield from _place_lines(page, terminal)
    yield from terminal.labelled("page", page.link)


def _fixable(page: Page) -> str:
    words = {
        "yes": f"yes, usually with {_COSTS.get(page.cost, page.cost)}",
        "sometimes": f"sometimes, then with {_COSTS.get(page.cost, page.cost)}",
        "no": "not by you",
    }[page.fixable]
    return f"{words}; eager fails as well" if page.eager_fails else words


def _worded_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    """Earlier types, which an older message has; of other changes only that there were some."""
    reworded = []
    for wording in page.earlier_wordings:
        if wording.type != page.type and not is_unevaluated_type(wording.type):
            when = _span(wording.releases) or "before a release"
            yield from terminal.labelled("was", f"{wording.type} ({when})")
        elif wording.releases:
            reworded.append(_span(wording.releases))
    if reworded:
        yield from terminal.labelled("was", f"worded differently in {', '.join(reworded)}")


def _place_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    places, label = page.call_sites, "raised in"
    if not places and page.earlier_call_sites:
        places, label = page.earlier_call_sites, f"until {page.last_release}"
    for number, place in enumerate(places[:_MOST_PLACES]):
        text = f"{place.function}()  {place.file}:{place.line}"
        yield from terminal.labelled(label if number == 0 else "", text)
        yield " " * _LABEL + terminal.style(_unwrapped(place), "cyan")
    if len(places) > _MOST_PLACES:
        yield from terminal.labelled("", f"and in {len(places) - _MOST_PLACES} more places")


def _unwrapped(place: Place) -> str:
    """An address stays on one line, however long: a terminal makes it a link."""
    return clean(place.link)


def status(page: Page) -> str:
    """Since when, and whether it can still happen."""
    since = f"since {page.first_release}" if page.first_release else "in no release yet"
    if page.installed is None:
        gone = f"gone since {page.gone_since}" if page.gone_since else "live in the newest release"
        return f"{since} · {gone} (no torch is installed here)"
    yours = f"your torch {page.installed}"
    if page.live:
        later = f", gone since {page.gone_since}" if page.gone_since else ""
        return f"{since} · live in {yours}{later}"
    if page.release != page.installed:
        return f"{since} · not in {yours}"
    if page.last_release is None:
        return f"{since} · no call in any known release raises it"
    if page.gone_since and sort_key(page.gone_since) <= sort_key(page.installed):
        return f"{since} · gone since {page.gone_since}, so not in {yours}"
    return f"{since} · raised in {page.last_release}, but not in {yours}"


def _span(releases: tuple[str, ...]) -> str:
    if len(releases) < 2:
        return "".join(releases)
    return f"{releases[0]} to {releases[-1]}"


def row_lines(rows: Iterable[Row], terminal: Terminal) -> Iterator[str]:
    """A table: id, state, since when, category, type."""
    rows = list(rows)
    widest = max((len(row.category) for row in rows), default=0)
    for row in rows:
        state = {True: "live", False: "retired", None: "unknown"}[row.live]
        line = f"{row.id}  {state:<7}  {row.first_release or '-':<7}  {row.category:<{widest}}  "
        shown = terminal.clipped(line + clean(row.type).replace("\n", " "))
        yield terminal.style(shown, "" if row.live else "dim")
