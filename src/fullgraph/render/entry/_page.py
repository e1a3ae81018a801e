"""The lines of one entry, for the renderers that show entries completely."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.registry.message_templates import is_unevaluated_type
from fullgraph.registry.pages import COSTS, Page
from fullgraph.registry.releases import sort_key
from fullgraph.terminal import LABEL, Terminal, clean

_MOST_PLACES = 4


def page_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    """Yield the lines that show one entry completely."""
    for line in terminal.wrapped(page.type, f"{page.id}  ", " " * 8):
        yield terminal.style(line, "bold")
    style = "green" if page.live else "yellow"
    for line in terminal.wrapped(f"{page.category_title} · {status(page)}"):
        yield terminal.style(line, style)
    yield ""
    why = page.explanation or "torch does not explain this break."
    yield from terminal.labelled("why", why)
    yield ""
    yield "how to fix"
    for number, advice in enumerate(page.how_to_fix, 1):
        by = "" if advice.source == "fullgraph" else "torch: "
        start = f"{'':<{LABEL}}{number}. "
        yield from terminal.wrapped(by + advice.text, start, " " * len(start))
    yield from _fixer_lines(page, terminal)
    yield ""
    yield from terminal.labelled("fixable", _fixable(page))
    yield from _worded_lines(page, terminal)
    yield from _place_lines(page, terminal)
    yield from terminal.labelled("page", page.link)


def _fixer_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    """Yield one entry per fixer that serves the break; nothing if there is none."""
    from fullgraph.fix.declarations import serving_fixers

    serving = serving_fixers(page.id, page.category, fixable=page.fixable != "no")
    if not serving.fixers:
        return
    yield from terminal.labelled("", f"{serving.claim}; see fullgraph explain NAME:")
    for fixer in serving.fixers:
        start = f"{'':<{LABEL}}- "
        yield from terminal.wrapped(f"{fixer.name} ({fixer.title})", start, " " * len(start))


def _fixable(page: Page) -> str:
    words = {
        "yes": f"yes, usually with {COSTS.get(page.cost, page.cost)}",
        "sometimes": f"sometimes, then with {COSTS.get(page.cost, page.cost)}",
        "no": "not by you",
    }[page.fixable]
    return f"{words}; it fails in eager mode too" if page.eager_fails else words


def _worded_lines(page: Page, terminal: Terminal) -> Iterator[str]:
    """Yield earlier types, which older messages contain; other rewordings are only mentioned."""
    reworded = []
    for wording in page.earlier_wordings:
        if wording.type != page.type and not is_unevaluated_type(wording.type):
            when = _span(wording.releases) or "never released"
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
        # On one line: terminals then make the URL a link.
        yield " " * LABEL + terminal.style(clean(place.link), "cyan")
    if len(places) > _MOST_PLACES:
        yield from terminal.labelled("", f"and in {len(places) - _MOST_PLACES} more calls")


def status(page: Page) -> str:
    """Return since when an entry exists, and whether the installed torch can raise it."""
    since = f"since {page.first_release}" if page.first_release else "not released yet"
    if page.installed is None:
        gone = f"gone since {page.gone_since}" if page.gone_since else "live in the newest release"
        return f"{since} · {gone} (torch is not installed)"
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
