"""The page for unknown URLs. A host shows it at any depth, so it contains its own styles and links
from the root of the site."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import ASSETS, frame_of, home_path, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the page."""
    frame = frame_of(site)
    values = {
        "root": home_path(frame.address),
        "kind": "notfound",
        "title": "Not found",
        "description": "This page does not exist.",
        "css": Markup((ASSETS / "site.css").read_text(encoding="utf-8")),
        "js": Markup((ASSETS / "site.js").read_text(encoding="utf-8")),
    }
    yield Output("404.html", frame, renderer("notfound.html", frame, "404.html", **values))
