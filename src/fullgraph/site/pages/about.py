"""The about page: sources, terms and the API."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import frame_of, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page."""
    frame = frame_of(site)
    values = {
        "kind": "about",
        "title": "About",
        "description": "Sources of the texts and examples, terms, and the API.",
    }
    yield Output("about.html", frame, renderer("about.html", frame, "about.html", **values))
