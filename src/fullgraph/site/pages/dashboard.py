"""The registry in numbers, and lists of missing information."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.site.charts import growth_chart, share_bar
from fullgraph.site.model import BreakPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.templating import frame_of, renderer

_MISSING = {
    "explanation": "torch does not explain why it happens.",
    "hints": "torch gives no hint.",
    "example": "The catalog has no example. Some breaks cannot happen on a CPU.",
    "additional information": "No information was contributed yet.",
}


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page."""
    frame = frame_of(site)
    path = "dashboard.html"
    values = _values(site)
    yield Output(path, _facts(site), renderer("dashboard.html", frame, path, **values))


def _facts(site: SiteData) -> Any:
    shown = [
        (e.id, e.page.type, e.status, e.missing, e.edit_link, e.page.category, e.info is not None)
        for e in site.breaks.values()
    ]
    orphans = [orphan.file for orphan in site.orphans]
    return (frame_of(site), shown, site.releases, site.problems, orphans)


def _values(site: SiteData) -> dict[str, Any]:
    return {
        "kind": "dashboard",
        "title": "Dashboard",
        "description": "Number of graph breaks by category and release, and missing information.",
        "totals": _totals(site),
        "chart": growth_chart(site.releases[::-1]),
        "releases": site.releases,
        "categories": _categories(site),
        "missing": _missing(site),
        "problems": site.problems,
        "orphans": site.orphans,
    }


def _totals(site: SiteData) -> list[tuple[str, int, str]]:
    breaks = list(site.breaks.values())
    lacking = sum(not {"explanation", "hints"}.isdisjoint(each.missing) for each in breaks)
    counted = [
        ("Live", sum(each.status == "live" for each in breaks)),
        ("Retired", sum(each.status == "retired" for each in breaks)),
        ("With an example", sum(each.example is not None for each in breaks)),
        ("With additional information", sum(_has_info(each) for each in breaks)),
        ("Without explanation or hints", lacking),
    ]
    shares = [(name, n, f"{100 * n / max(len(breaks), 1):.0f} %") for name, n in counted]
    return [("Known breaks", len(breaks), ""), *shares]


def _has_info(each: BreakPage) -> bool:
    return "additional information" not in each.missing


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


def _missing(site: SiteData) -> list[tuple[str, str, list[BreakPage]]]:
    live = [each for _, each in sorted(site.breaks.items()) if each.status == "live"]
    return [
        (name, about, [each for each in live if name in each.missing])
        for name, about in _MISSING.items()
    ]
