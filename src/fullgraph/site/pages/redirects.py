"""Redirects to the pages of breaks from the ways in which people write their ids.

`GB0170.html`, `gb0170` and `gb170` are static pages at the root of the site. No two of their names
differ only in case, so that the site can be copied to any file system. The 404 page handles the
other spellings (`assets/notfound.js`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape

from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.policy import POLICY

# Static pages for every id of a very large registry would take longer to write than its pages.
MOST_BREAKS = 5_000


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    if len(site.breaks) > MOST_BREAKS:
        return
    address = site.settings.address
    for identifier in (*site.breaks, *(info.id for info in site.orphans)):
        for path in redirect_paths(identifier):
            facts = (path, address)
            yield Output(path, facts, partial(_render, path, identifier, address))


def redirect_paths(identifier: str) -> list[str]:
    """Return the paths of the redirects to the page of a break."""
    short = f"gb{int(identifier[2:])}"
    names = dict.fromkeys((identifier.lower(), short))
    return [f"{identifier}.html", *(f"{name}/index.html" for name in names)]


def _render(path: str, identifier: str, address: str) -> bytes:
    page = f"gb/{identifier.lower()}.html"
    target = "../" * path.count("/") + page
    canonical = f'<link rel="canonical" href="{escape(address + page)}">\n' if address else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n'
        f'<meta name="robots" content="noindex">\n{canonical}<title>{identifier}</title>\n'
        f'</head>\n<body>\n<p><a href="{target}">{identifier}</a></p>\n</body>\n</html>\n'
    ).encode()
