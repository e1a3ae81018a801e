"""Entries of the registry for a terminal: readable at 80 columns, without colour, and piped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullgraph.registry.message_templates import is_unevaluated_type
from fullgraph.registry.pages import Page, Place, Row
from fullgraph.registry.releases import sort_key
from fullgraph.terminal import LABEL, Terminal, clean

_MOST_PLACES = 4
COSTS = {
    "one line": "one line",
    "local rewrite": "a local rewrite",
    "restructure": "restructuring",
}


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
        start = f"{label:<{LABEL}}{number}. "
        yield from terminal.wrapped(by + way.text, start, " " * len(start))
    yield ""
    yield from terminal.labelled("fixable", _fixable(page))
    yield from _worded_lines(page, terminal)
    yield from _place_lines(page, terminal)
    yield from terminal.labelled("page", page.link)


def _fixable(page: Page) -> str:
    words = {
        "yes": f"yes, usually with {COSTS.get(page.cost, page.cost)}",
        "sometimes": f"sometimes, then with {COSTS.get(page.cost, page.cost)}",
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
        yield " " * LABEL + terminal.style(_unwrapped(place), "cyan")
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
