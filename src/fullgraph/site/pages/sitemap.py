"""The sitemap and robots.txt for search engines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from urllib.parse import urlsplit

from fullgraph.guide.manual import all_chapters
from fullgraph.site.documents import all_documents
from fullgraph.site.model import Release, SiteData, fixer_path, lesson_path
from fullgraph.site.pages import Output
from fullgraph.site.pages.feed import day_of
from fullgraph.site.pages.lists import LISTS, release_list

_FIXED = (
    "index.html",
    "dashboard.html",
    "about.html",
    "categories/index.html",
    "releases/index.html",
    "fixes/index.html",
    "guide/index.html",
    "docs/index.html",
)


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the files."""
    address = site.settings.address
    pages = tuple(_pages(site))
    yield Output("sitemap.xml", (address, pages), partial(_sitemap, address, pages))
    # Search engines read robots.txt only at the root of a host.
    if address and urlsplit(address).path in ("", "/"):
        yield Output("robots.txt", address, partial(_robots, address))


def _pages(site: SiteData) -> Iterator[tuple[str, str]]:
    """Yield each page and the day of its last change; empty if no fact says it."""
    releases = [release for release in (site.upcoming, *site.releases) if release]
    days = _last_changes(site, releases)
    newest = max((day_of(release, site) for release in releases), default="")
    dated = ("index.html", "dashboard.html", "releases/index.html")
    yield from ((path, newest if path in dated else "") for path in _FIXED)
    for category in site.categories:
        yield category.path, max((days.get(each, "") for each in category.breaks), default="")
    yield from ((fixer_path(fixer.name), "") for fixer in site.fixers)
    yield from ((lesson_path(lesson.id), "") for lesson in site.lessons)
    yield from ((release.path, day_of(release, site)) for release in releases)
    for each in site.breaks.values():
        # Contributed text changes at any time.
        yield each.path, days.get(each.id, "") if each.info is None else ""
    yield from ((info.path, "") for info in site.orphans)
    yield from ((each.path, "") for each in LISTS)
    yield from ((chapter.path, "") for chapter in all_chapters())
    yield from ((document.path, "") for document in all_documents())
    yield from ((release_list(each.release), "") for each in site.releases)


def _last_changes(site: SiteData, releases: list[Release]) -> dict[str, str]:
    """Return the day of the newest release that changed a break, by id."""
    days: dict[str, str] = {}
    for release in releases:
        day = day_of(release, site)
        for kind in ("new", "reworded", "retired", "revived", "removed"):
            for change in getattr(release, kind):
                days[change.id] = max(day, days.get(change.id, ""))
    return days


def _sitemap(address: str, pages: tuple[tuple[str, str], ...]) -> bytes:
    urls = "".join(
        f"<url><loc>{escape(address + path)}</loc>"
        f"{f'<lastmod>{day}</lastmod>' if day else ''}</url>\n"
        for path, day in pages
    )
    # Search engines need absolute URLs; without `address` in the settings there are none.
    note = "" if address else "<!-- set `address` in site.toml to make these absolute -->\n"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'{note}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    ).encode()


def _robots(address: str) -> bytes:
    return f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n".encode()
