"""The sitemap and robots.txt for search engines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from urllib.parse import urlsplit

from fullgraph.site.model import SiteData, fixer_path, lesson_path
from fullgraph.site.pages import Output

_FIXED = (
    "index.html",
    "dashboard.html",
    "about.html",
    "categories/index.html",
    "releases/index.html",
    "fixes/index.html",
    "guide/index.html",
)


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the files."""
    address = site.settings.address
    paths = (
        *_FIXED,
        *(category.path for category in site.categories),
        *(fixer_path(fixer.name) for fixer in site.fixers),
        *(lesson_path(lesson.id) for lesson in site.lessons),
        *(release.path for release in (site.upcoming, *site.releases) if release),
        *(each.path for each in site.breaks.values()),
    )
    yield Output("sitemap.xml", (address, paths), partial(_sitemap, address, paths))
    # Search engines read robots.txt only at the root of a host.
    if address and urlsplit(address).path in ("", "/"):
        yield Output("robots.txt", address, partial(_robots, address))


def _sitemap(address: str, paths: tuple[str, ...]) -> bytes:
    urls = "".join(f"<url><loc>{escape(address + path)}</loc></url>\n" for path in paths)
    # Search engines need absolute URLs; without `address` in the settings there are none.
    note = "" if address else "<!-- set `address` in site.toml to make these absolute -->\n"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'{note}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    ).encode()


def _robots(address: str) -> bytes:
    return f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n".encode()
