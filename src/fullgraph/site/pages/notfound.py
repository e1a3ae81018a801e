"""The page for addresses that do not exist. A host shows it at any depth, so it brings its own
styles and links from the site's place on its host."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from fullgraph.site.model import Site
from fullgraph.site.pages import Output
from fullgraph.site.templating import ASSETS, frame_of, home_path, renderer


def outputs(site: Site) -> Iterator[Output]:
    frame = frame_of(site)
    values = {
        "root": home_path(frame.address),
        "kind": "notfound",
        "title": "Not found",
        "description": "There is no such page.",
        "css": Markup((ASSETS / "site.css").read_text(encoding="utf-8")),
        "js": Markup((ASSETS / "site.js").read_text(encoding="utf-8")),
    }
    yield Output("404.html", frame, renderer("notfound.html", frame, "404.html", **values))
