"""Atom feeds of the changes in each release: all of them, and those of one category."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from typing import NamedTuple

from msgspec.structs import replace

from fullgraph.site.model import Change, Release, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.placeholders import plain

# Without a URL in the settings, the ids of entries must still be unique.
_NO_URL = "tag:fullgraph.invalid,2025:"
_NO_DAY = "2025-01-01"
_KINDS = (
    ("new", "New"),
    ("reworded", "Reworded"),
    ("retired", "Retired: no code raises them"),
    ("revived", "Raised again"),
    ("removed", "Removed from the registry"),
)


class _Feed(NamedTuple):
    path: str
    title: str
    # The page that the feed belongs to.
    page: str


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the feed of all changes, and one per category."""
    releases = (*([site.upcoming] if site.upcoming else []), *site.releases)
    settings = site.settings
    feeds = [(_Feed("feed.xml", settings.title, "index.html"), releases)]
    for category in site.categories:
        if category.breaks:
            feed = _Feed(category.feed, f"{settings.title}, {category.title}", category.path)
            feeds.append((feed, _only(frozenset(category.breaks), releases)))
    for feed, shown in feeds:
        facts = (feed, settings.address, shown, site.first_seen)
        yield Output(feed.path, facts, partial(_render, site, feed, shown))


def _only(ids: frozenset[str], releases: tuple[Release, ...]) -> tuple[Release, ...]:
    """Return the releases that changed one of these breaks, with these changes only."""
    found = []
    for release in releases:
        kinds = {kind: getattr(release, kind) for kind, _ in _KINDS}
        changes = {
            kind: tuple(change for change in every if change.id in ids)
            for kind, every in kinds.items()
        }
        if any(changes.values()):
            found.append(replace(release, **changes))
    return tuple(found)


def _render(site: SiteData, feed: _Feed, releases: tuple[Release, ...]) -> bytes:
    entries = [_entry(release, feed, site) for release in releases]
    newest = max((day_of(release, site) for release in releases), default=_NO_DAY)
    address = escape(site.settings.address)
    own = f'<link rel="self" href="{address}{feed.path}"/>\n' if address else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{address or _NO_URL}{feed.path}</id>\n"
        f"<title>{_text(feed.title)}: changes</title>\n"
        f"<updated>{newest}T00:00:00Z</updated>\n"
        f"<author><name>{_text(site.settings.title)}</name></author>\n"
        f'{own}<link rel="alternate" type="text/html" href="{address}{feed.page}"/>\n'
        f"{''.join(entries)}</feed>\n"
    ).encode()


def _entry(release: Release, feed: _Feed, site: SiteData) -> str:
    address = escape(site.settings.address)
    upcoming = site.upcoming is not None and release.release == site.upcoming.release
    # An unreleased registry keeps its name, so each state of it is an entry.
    name = f"{release.release}-{site.checksum}" if upcoming else release.release
    # The entries of different feeds about one release are different entries.
    part = "" if feed.path == "feed.xml" else f"#{feed.path.rpartition('/')[2].partition('.')[0]}"
    return (
        "<entry>\n"
        f"<id>{address or _NO_URL}releases/{_text(name)}{part}</id>\n"
        f"<title>{_title(release, upcoming)}</title>\n"
        f"<updated>{day_of(release, site)}T00:00:00Z</updated>\n"
        f'<link rel="alternate" type="text/html" href="{address}{_text(release.path)}"/>\n'
        f'<content type="html">{escape(_content(release, address))}</content>\n'
        "</entry>\n"
    )


def _title(release: Release, upcoming: bool) -> str:
    name = _text(release.release)
    what = f"{name}, not released: since torch {release.before}" if upcoming else f"torch {name}"
    counts = [
        f"{len(getattr(release, kind))} {kind}" for kind, _ in _KINDS if getattr(release, kind)
    ]
    return f"{what}: {', '.join(counts) or 'no change'}"


def _content(release: Release, address: str) -> str:
    parts = [f"<p>{release.entries} entries, {release.live} of them live.</p>"]
    for kind, title in _KINDS:
        changes: tuple[Change, ...] = getattr(release, kind)
        if changes:
            items = "".join(_item(change, address) for change in changes)
            parts.append(f"<h2>{title}</h2><ul>{items}</ul>")
    return "".join(parts)


def _item(change: Change, address: str) -> str:
    what = f" ({', '.join(change.what)})" if change.what else ""
    link = f"{address}gb/{change.id.lower()}.html"
    return f'<li><a href="{link}">{change.id}</a> {_text(plain(change.type))}{what}</li>'


def day_of(release: Release, site: SiteData) -> str:
    """Return the day of a release, or the one on which this site first had it."""
    first = site.first_seen
    return (
        release.date
        or first.get(release.release)
        or first.get(f"{release.release}-{site.checksum}")
        or _NO_DAY
    )


def _text(text: str) -> str:
    # XML does not allow control characters.
    if text.isprintable():
        return escape(text)
    return escape("".join(each if each.isprintable() else " " for each in text))
