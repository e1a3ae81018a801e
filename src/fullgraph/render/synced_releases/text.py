"""Downloaded registries for a terminal: one line each."""

from __future__ import annotations

from fullgraph.registry.entries import Snapshot
from fullgraph.render._lines import joined


def render(snapshots: list[Snapshot], **_: object) -> str:
    """Return one line per registry."""
    return joined(f"{each.release:<10}  {_numbers(each)}" for each in snapshots)


def _numbers(snapshot: Snapshot) -> str:
    live = "live entries unknown without torch source code"
    if snapshot.sites is not None:
        live = f"{len(snapshot.sites)} live; calls without an entry: {len(snapshot.unmapped)}"
    return f"{len(snapshot.entries)} entries, {live}"
