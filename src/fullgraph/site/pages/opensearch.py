"""The OpenSearch description, with which a browser can search the site from its address bar."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape

from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the file; it needs absolute URLs, so a site without an address has none."""
    title, address = site.settings.title, site.settings.address
    if address:
        yield Output("opensearch.xml", (title, address), partial(_render, title, address))


def _render(title: str, address: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        # The standard allows 16 characters for the short name.
        f"<ShortName>{escape(title[:16])}</ShortName>\n"
        f"<Description>{escape(title)}: search by words, by id or by a pasted error</Description>\n"
        "<InputEncoding>UTF-8</InputEncoding>\n"
        f'<Image type="image/svg+xml">{escape(address)}assets/icon.svg</Image>\n'
        f'<Url type="text/html" template="{escape(address)}index.html?q={{searchTerms}}"/>\n'
        f'<Url type="application/opensearchdescription+xml" rel="self" '
        f'template="{escape(address)}opensearch.xml"/>\n'
        "</OpenSearchDescription>\n"
    ).encode()
