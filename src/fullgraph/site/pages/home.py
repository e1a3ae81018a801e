"""The first page, and the index that its search looks things up in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.registry.entries import checksum_of
from fullgraph.site.labels import STATUS
from fullgraph.site.model import Break, CategoryPage, Site
from fullgraph.site.pages import Output
from fullgraph.site.searchindex import index_of, script_of
from fullgraph.site.templating import frame_of, renderer


def outputs(site: Site) -> Iterator[Output]:
    script = script_of(index_of(site))
    version = checksum_of(script)
    yield Output("search-index.js", version, lambda: script)
    frame = frame_of(site)
    groups = groups_of(site)
    categories = [(each.name, each.title) for each in site.categories]
    # The index has all that the list shows, but for the order of the releases' names.
    facts = (frame, version, categories)
    yield Output(
        "index.html",
        facts,
        renderer("home.html", frame, "index.html", **_values(site, groups, version)),
    )


def groups_of(site: Site) -> list[tuple[CategoryPage, list[Break]]]:
    """Every break once, by category; within one, live ones first."""
    found = []
    for category in site.categories:
        breaks = [site.breaks[each] for each in category.breaks if each in site.breaks]
        breaks.sort(key=lambda each: (each.status not in ("live", "unreleased"), each.id))
        if breaks:
            found.append((category, breaks))
    return found


def unworded(site: Site) -> list[Break]:
    """Breaks of which only facts are at hand; no category can be told."""
    return [each for _, each in sorted(site.breaks.items()) if not each.worded]


def _values(
    site: Site, groups: list[tuple[CategoryPage, list[Break]]], version: str
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
    }
