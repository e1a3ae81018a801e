"""One page per release with its changes, and a list of releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.site.charts import growth_chart
from fullgraph.site.labels import listed, named
from fullgraph.site.model import Change, Release, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import frame_of, renderer

_Section = tuple[str, str, str, tuple[Change, ...]]


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    path = "releases/index.html"
    ahead = _sections(site.upcoming) if site.upcoming else []
    listed_values = {
        "kind": "release",
        "title": "Releases",
        "description": "Graph breaks that each release of torch added, reworded and retired.",
        "releases": site.releases,
        "upcoming": site.upcoming,
        "upcoming_summary": _summary(ahead) if ahead else "no new",
        "chart": growth_chart(site.releases[::-1]),
    }
    yield Output(
        path,
        (frame, site.releases, site.upcoming),
        renderer("releases.html", frame, path, **listed_values),
    )
    every = [*([site.upcoming] if site.upcoming else []), *site.releases]
    names = [each.release for each in every]
    known = frozenset(site.breaks)
    for each, newer in zip(every, [None, *names], strict=False):
        sections = _sections(each)
        values: dict[str, Any] = {
            "kind": "release",
            "title": named(each.release),
            "description": f"Graph breaks in {named(each.release)}: {_summary(sections)}.",
            "release": each,
            "upcoming": each is site.upcoming,
            "sections": sections,
            "summary": _summary(sections),
            "known": known,
            "older": each.before,
            "newer": newer,
        }
        gone = sorted({change.id for *_, found in sections for change in found} - known)
        facts = (frame, each, newer, gone)
        yield Output(each.path, facts, renderer("release.html", frame, each.path, **values))


def _sections(release: Release) -> list[_Section]:
    # The oldest known release has nothing to be compared with.
    if release.before is None:
        return []
    before = release.before
    found: list[_Section] = [
        ("new", "New", f"Not in the registry of {before}.", release.new),
        ("reworded", "Reworded", "The same break with another text.", release.reworded),
        ("retired", "Retired", "No code raises them.", release.retired),
        (
            "revived",
            "Revived",
            f"Raised again; not raised in {before}.",
            release.revived,
        ),
        ("removed", "Removed", "No longer in the registry.", release.removed),
    ]
    return [section for section in found if section[3]]


def _summary(sections: list[_Section]) -> str:
    counts = [f"{len(changes)} {name.lower()}" for _, name, _, changes in sections]
    return listed(counts) or "all entries"
