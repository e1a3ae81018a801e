"""The registry in numbers, and lists of what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.site.charts import growth_chart, share_bar
from fullgraph.site.model import Break, Site
from fullgraph.site.pages import Output
from fullgraph.site.pages.home import groups_of
from fullgraph.site.templating import frame_of, renderer

_MISSING = {
    "explanation": "torch says nothing about why it happens.",
    "hints": "torch gives no hint of its own.",
    "example": "The catalog has no code that breaks and no fix. Some cannot be met on a CPU.",
    "additional information": "Nobody has added anything yet.",
}


def outputs(site: Site) -> Iterator[Output]:
    frame = frame_of(site)
    path = "dashboard.html"
    values = _values(site)
    yield Output(path, _facts(site), renderer("dashboard.html", frame, path, **values))


def _facts(site: Site) -> Any:
    shown = [
        (e.id, e.page.type, e.status, e.missing, e.edit_link, e.page.category, e.info is not None)
        for e in site.breaks.values()
    ]
    orphans = [orphan.file for orphan in site.orphans]
    return (frame_of(site), shown, site.releases, site.problems, orphans)


def _values(site: Site) -> dict[str, Any]:
    return {
        "kind": "dashboard",
        "title": "Dashboard",
        "description": "How many graph breaks there are, of which kind, and what their pages lack.",
        "totals": _totals(site),
        "chart": growth_chart(site.releases[::-1]),
        "releases": site.releases,
        "categories": _categories(site),
        "missing": _missing(site),
        "problems": site.problems,
        "orphans": site.orphans,
    }


def _totals(site: Site) -> list[tuple[str, int, str]]:
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


def _has_info(each: Break) -> bool:
    return "additional information" not in each.missing


def _categories(site: Site) -> list[tuple[Any, ...]]:
    groups = groups_of(site)
    most = max((len(breaks) for _, breaks in groups), default=1)
    found = []
    for category, breaks in groups:
        live = sum(each.status == "live" for each in breaks)
        examples = sum(each.example is not None for each in breaks)
        others = len(breaks) - live
        found.append((category, live, others, examples, share_bar(live, others, most)))
    return found


def _missing(site: Site) -> list[tuple[str, str, list[Break]]]:
    live = [each for _, each in sorted(site.breaks.items()) if each.status == "live"]
    return [
        (name, about, [each for each in live if name in each.missing])
        for name, about in _MISSING.items()
    ]
