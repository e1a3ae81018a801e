"""Styles, scripts and the icon of `assets/`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fullgraph.registry.entries import checksum_of
from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import ASSETS


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield one file per asset."""
    for file in sorted(ASSETS.iterdir()):
        data = file.read_bytes()
        yield Output(f"assets/{file.name}", checksum_of(data), partial(bytes, data))
