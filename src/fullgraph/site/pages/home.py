"""The home page, and the index of the search of all pages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fullgraph.registry.entries import checksum_of
from fullgraph.registry.taxonomy import RENAMED
from fullgraph.site import labels as labels
from fullgraph.site.labels import STATUS
from fullgraph.site.met_often import most_met
from fullgraph.site.model import BreakPage, CategoryPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.searchindex import fixes_of, index_of, script_of
from fullgraph.site.templating import frame_of, renderer

# How many breaks and lessons the page shows.
_MOST_MET = 12
_FIRST_LESSONS = 7


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page, the index of the search, and the fixes that the search shows."""
    for name, content in (
        ("search-index.js", script_of("FULLGRAPH_INDEX", index_of(site))),
        ("search-fixes.js", script_of("FULLGRAPH_FIXES", fixes_of(site))),
    ):
        yield Output(name, checksum_of(content), partial(bytes, content))
    frame = frame_of(site)
    values = _values(site)
    render = renderer("home.html", frame, "index.html", **values)
    yield Output("index.html", (frame, _facts(values)), render)


def _facts(values: dict[str, Any]) -> list[Any]:
    """Return what the page shows of its values."""
    return [
        [(category, [_shown(each) for each in breaks]) for category, breaks in values["groups"]],
        [_shown(each) for each in values["unworded"]],
        [(_shown(each), labels.sentence(each), programs) for each, programs in values["met"]],
        [(each.id, each.title, each.minutes) for each in values["lessons"]],
        *(values[name] for name in ("met_in", "lesson_count", "statuses", "releases", "renamed")),
    ]


def _shown(each: BreakPage) -> tuple[str, str, str, bool, str, str]:
    """Return the facts in a row of the list."""
    has_example = each.example is not None
    return (each.id, each.page.type, each.status, has_example, each.page.fixable, each.marks)


def groups_of(site: SiteData) -> list[tuple[CategoryPage, list[BreakPage]]]:
    """Return every break once, by category; live breaks come first."""
    found = []
    for category in site.categories:
        breaks = [site.breaks[each] for each in category.breaks if each in site.breaks]
        breaks.sort(key=lambda each: (each.status not in ("live", "new"), each.id))
        if breaks:
            found.append((category, breaks))
    return found


def unworded(site: SiteData) -> list[BreakPage]:
    """Return the breaks without text, whose category is unknown."""
    return [each for _, each in sorted(site.breaks.items()) if not each.worded]


def _values(site: SiteData) -> dict[str, Any]:
    present = {each.status for each in site.breaks.values()}
    groups = groups_of(site)
    met = most_met(site, _MOST_MET)
    return {
        "kind": "home",
        "title": "Find a graph break",
        "description": "Every graph break of torch.compile: what it means and how to fix it.",
        "total": len(site.breaks),
        "groups": groups,
        "unworded": unworded(site),
        "met": [
            (site.breaks[each.id], labels.count(each.programs, met.unit)) for each in met.breaks
        ],
        "met_in": met.counted_in,
        "lessons": site.lessons[:_FIRST_LESSONS],
        "lesson_count": len(site.lessons),
        "categories": [category for category, _ in groups],
        "statuses": [status for status in STATUS if status in present],
        "releases": [release.release for release in site.releases],
        "renamed": RENAMED,
    }
