"""Downloaded registries as JSON: the numbers of each, without its entries."""

from __future__ import annotations

from fullgraph.registry.entries import Snapshot
from fullgraph.render import _json


def render(snapshots: list[Snapshot], **_: object) -> str:
    """Return one object per registry."""
    return _json.render(
        [
            {
                "release": each.release,
                "entries": len(each.entries),
                "live": None if each.sites is None else len(each.sites),
                "calls_without_entry": None if each.sites is None else len(each.unmapped),
                "origin": each.origin,
            }
            for each in snapshots
        ]
    )
