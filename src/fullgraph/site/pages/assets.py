"""Styles, scripts and the icon, as they are in `assets/`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fullgraph.registry.entries import checksum_of
from fullgraph.site.model import Site
from fullgraph.site.pages import Output
from fullgraph.site.templating import ASSETS


def outputs(site: Site) -> Iterator[Output]:
    for file in sorted(ASSETS.iterdir()):
        data = file.read_bytes()
        yield Output(f"assets/{file.name}", checksum_of(data), partial(bytes, data))
