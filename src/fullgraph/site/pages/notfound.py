"""The page for unknown URLs. A host shows it at any depth, so its links start at the root of the
host. `assets/notfound.js` leads from the id of a break, however it is written, to its page."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import frame_of, home_path, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page."""
    frame = frame_of(site)
    values = {
        "root": home_path(frame.address),
        "kind": "notfound",
        "title": "Not found",
        "description": "This page does not exist.",
    }
    yield Output("404.html", frame, renderer("notfound.html", frame, "404.html", **values))
