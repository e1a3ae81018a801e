"""An Atom feed of the changes in each release."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape

from fullgraph.site.model import Change, Release, SiteData
from fullgraph.site.pages import Output

# Without a URL in the settings, the ids of entries must still be unique.
_NO_URL = "tag:fullgraph.invalid,2025:"
_KINDS = (
    ("new", "New"),
    ("reworded", "Reworded"),
    ("retired", "Retired: no code raises them"),
    ("revived", "Raised again"),
    ("removed", "Removed from the registry"),
)


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the feed."""
    releases = (*([site.upcoming] if site.upcoming else []), *site.releases)
    facts = (site.settings.title, site.settings.address, releases, site.first_seen)
    yield Output("feed.xml", facts, partial(_render, site, releases))


def _render(site: SiteData, releases: tuple[Release, ...]) -> bytes:
    entries = [_entry(release, site) for release in releases]
    newest = max((_day(release, site) for release in releases), default="2025-01-01")
    address = escape(site.settings.address)
    own = f'<link rel="self" href="{address}feed.xml"/>\n' if address else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{address or _NO_URL}feed.xml</id>\n"
        f"<title>{_text(site.settings.title)}: changes</title>\n"
        f"<updated>{newest}T00:00:00Z</updated>\n"
        f"<author><name>{_text(site.settings.title)}</name></author>\n"
        f'{own}<link rel="alternate" type="text/html" href="{address}index.html"/>\n'
        f"{''.join(entries)}</feed>\n"
    ).encode()


def _entry(release: Release, site: SiteData) -> str:
    address = escape(site.settings.address)
    upcoming = release is site.upcoming
    # An unreleased registry keeps its name, so each state of it is an entry.
    name = f"{release.release}-{site.checksum}" if upcoming else release.release
    return (
        "<entry>\n"
        f"<id>{address or _NO_URL}releases/{_text(name)}</id>\n"
        f"<title>{_title(release, upcoming)}</title>\n"
        f"<updated>{_day(release, site)}T00:00:00Z</updated>\n"
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
    return f'<li><a href="{link}">{change.id}</a> {_text(change.type)}{what}</li>'


def _day(release: Release, site: SiteData) -> str:
    first = site.first_seen
    return (
        release.date
        or first.get(release.release)
        or first.get(f"{release.release}-{site.checksum}")
        or "2025-01-01"
    )


def _text(text: str) -> str:
    # XML does not allow control characters.
    return escape("".join(each if each.isprintable() else " " for each in text))
