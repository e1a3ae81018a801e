"""What a sweep over programs met, from the reports that `fullgraph run --format json` writes."""

from __future__ import annotations

from pathlib import Path

from fullgraph.site.model import Seen


def read_seen(path: Path) -> dict[str, Seen]:
    return {}
