"""The home page and the index of its search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.registry.entries import checksum_of
from fullgraph.registry.taxonomy import RENAMED
from fullgraph.site.labels import STATUS
from fullgraph.site.model import BreakPage, CategoryPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.searchindex import index_of, script_of
from fullgraph.site.templating import frame_of, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page and the index."""
    script = script_of(index_of(site))
    version = checksum_of(script)
    yield Output("search-index.js", version, lambda: script)
    frame = frame_of(site)
    groups = groups_of(site)
    categories = [(each.name, each.title) for each in site.categories]
    # The index contains everything in the list, except the names of categories.
    facts = (frame, version, categories)
    yield Output(
        "index.html",
        facts,
        renderer("home.html", frame, "index.html", **_values(site, groups, version)),
    )


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


def _values(
    site: SiteData, groups: list[tuple[CategoryPage, list[BreakPage]]], version: str
) -> dict[str, Any]:
    present = {each.status for each in site.breaks.values()}
    return {
        "kind": "home",
        "title": "Find a graph break",
        "description": "Every graph break of torch.compile: what it means and how to fix it.",
        "total": len(site.breaks),
        "groups": groups,
        "unworded": unworded(site),
        "categories": [category for category, _ in groups],
        "statuses": [status for status in STATUS if status in present],
        "releases": [release.release for release in site.releases],
        "index_version": version,
        "renamed": RENAMED,
    }
