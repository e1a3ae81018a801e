"""What the site is, what its words mean, and its API."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.site.model import Site
from fullgraph.site.pages import Output
from fullgraph.site.templating import frame_of, renderer


def outputs(site: Site) -> Iterator[Output]:
    frame = frame_of(site)
    values = {
        "kind": "about",
        "title": "About",
        "description": "Where the texts and examples come from, what the words mean, and the API.",
    }
    yield Output("about.html", frame, renderer("about.html", frame, "about.html", **values))
