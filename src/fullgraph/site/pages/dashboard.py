"""The registry in numbers: what to write next, what got worse, and a list behind each number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from fullgraph.site.charts import growth_chart, share_bar
from fullgraph.site.labels import count
from fullgraph.site.met_often import MetOften, counted_breaks, most_met
from fullgraph.site.model import BreakPage, Release, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.pages.lists import LISTS, release_list
from fullgraph.site.templating import frame_of, renderer

# So many breaks are suggested; the list behind the number has all.
_SUGGESTED = 12


class _Number(NamedTuple):
    name: str
    number: int
    # The share of all known breaks; empty if it says nothing.
    share: str
    path: str


class _Suggestion(NamedTuple):
    each: BreakPage
    why: str


class _Comparison(NamedTuple):
    """A release compared with the one before it."""

    release: Release
    list: str
    # The change of the number of live breaks; None for the oldest release.
    more: int | None


class _Growth(NamedTuple):
    """A category that has more live breaks in the newest release than in the one before."""

    title: str
    path: str
    before: int
    now: int


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page."""
    frame = frame_of(site)
    path = "dashboard.html"
    values = _values(site)
    yield Output(path, _facts(site), renderer("dashboard.html", frame, path, **values))


def _facts(site: SiteData) -> Any:
    shown = [
        (e.id, e.page.type, e.status, e.missing, e.edit_link, e.page.category, e.sweep,
         e.unreachable, [mark.mark for mark in e.history])
        for e in site.breaks.values()
    ]  # fmt: skip
    orphans = [orphan.file for orphan in site.orphans]
    return (frame_of(site), shown, site.releases, site.problems, orphans, counted_breaks())


def _values(site: SiteData) -> dict[str, Any]:
    met = most_met(site, len(site.breaks))
    return {
        "kind": "dashboard",
        "title": "Dashboard",
        "description": "Graph breaks in numbers, what got worse, and what to write next.",
        "totals": _totals(site),
        "chart": growth_chart(site.releases[::-1]),
        "comparisons": _comparisons(site.releases),
        "growth": _growth(site),
        "newest": [release.release for release in site.releases[:2]],
        "categories": _categories(site),
        "often": _often(site, met),
        "met_in": met.counted_in,
        "examples": _wanted_examples(site),
        "problems": site.problems,
        "orphans": site.orphans,
    }


def _totals(site: SiteData) -> list[_Number]:
    breaks = site.breaks.values()
    whole = max(len(breaks), 1)
    found = []
    for each in LISTS:
        number = sum(map(each.has, breaks))
        share = "" if each.name == "all" else f"{100 * number / whole:.0f} %"
        found.append(_Number(each.title, number, share, each.path))
    return found


def _comparisons(releases: Iterable[Release]) -> list[_Comparison]:
    """Return the releases, newest first."""
    newest_first = list(releases)
    before: list[Release | None] = [*newest_first[1:], None]
    return [
        _Comparison(each, release_list(each.release), each.live - older.live if older else None)
        for each, older in zip(newest_first, before, strict=False)
    ]


def _growth(site: SiteData) -> list[_Growth]:
    """Return the categories that grew in the newest release, the largest growth first."""
    found = []
    for category, breaks in groups_of(site):
        marks = [[mark.mark for mark in each.history[-2:]] for each in breaks]
        before, now = (sum(len(m) > 1 and m[index] == "live" for m in marks) for index in (0, 1))
        if now > before:
            found.append(_Growth(category.title, category.path, before, now))
    return sorted(found, key=lambda each: each.before - each.now)


def _categories(site: SiteData) -> list[tuple[Any, ...]]:
    groups = groups_of(site)
    most = max((len(breaks) for _, breaks in groups), default=1)
    found = []
    for category, breaks in groups:
        live = sum(each.status == "live" for each in breaks)
        examples = sum(each.example is not None for each in breaks)
        others = len(breaks) - live
        found.append((category, live, others, examples, share_bar(live, others, most)))
    return found


def _often(site: SiteData, met: MetOften) -> list[_Suggestion]:
    """Return the breaks that most programs meet and that no one has written about."""
    lacking = [
        (site.breaks[each.id], each.programs)
        for each in met.breaks
        if "additional information" in site.breaks[each.id].missing
    ]
    return [
        _Suggestion(each, f"met by {count(programs, met.unit)}")
        for each, programs in lacking[:_SUGGESTED]
    ]


def _wanted_examples(site: SiteData) -> list[_Suggestion]:
    """Return live breaks that lack an example; those with the most call sites come first."""
    wanted = [
        each
        for each in site.breaks.values()
        if each.status == "live" and each.example is None and not each.unreachable
    ]
    wanted.sort(key=lambda each: (-len(each.page.call_sites), each.id))
    return [
        _Suggestion(each, f"raised at {count(len(each.page.call_sites), 'place')} in torch")
        for each in wanted[:_SUGGESTED]
    ]
