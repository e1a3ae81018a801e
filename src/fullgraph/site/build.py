"""Renders a `Site` into a folder."""

from __future__ import annotations

from pathlib import Path

from fullgraph.site.model import Site
from fullgraph.site.pages import all_outputs


def build(site: Site, folder: Path) -> int:
    count = 0
    for output in all_outputs(site):
        file = folder / output.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(output.render())
        count += 1
    return count
