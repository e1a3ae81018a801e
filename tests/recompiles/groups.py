"""Groups of recompiles for tests."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fullgraph.model.report import RecompileGroup

_GROUP = RecompileGroup(
    kind="size",
    place="argument",
    source="L['x']",
    name="x",
    dim=0,
    values=("4", "6", "9"),
    function="forward",
    qualified="Model.forward",
    file="/program.py",
    line=7,
    owner="yours",
    resumed_at=None,
    compiles=("0/1", "0/2"),
    recompiles=2,
    refused=0,
    compile_seconds=0.5,
    limit=None,
    limit_value=None,
    called_at=None,
    bound_at=None,
    written_at=None,
    specialized_at=None,
    calls=None,
    bounded=False,
)


def group(**changes: Any) -> RecompileGroup:
    """Return a group about the size of an argument, with other facts where they are given."""
    return replace(_GROUP, **changes)
