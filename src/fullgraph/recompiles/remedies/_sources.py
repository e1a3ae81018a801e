"""Dynamo's names of the values that change in a group."""

from __future__ import annotations

from collections.abc import Iterable

from fullgraph.model.events import GuardChange
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.context import ProgramContext

_KINDS = ("size", "int", "float")


def changing_sources(
    group: RecompileGroup, context: ProgramContext, *, with_dims: bool
) -> list[str]:
    """Return the names for an entry such as `dynamic_sources`, with `:N` for a dimension."""
    if group.kind not in _KINDS:
        return []
    names = [_entry(group.source, group.dim, with_dims)]
    names += _entries(context.changes(group), with_dims)
    # A comma separates the entries.
    return [each for each in dict.fromkeys(names) if "," not in each and each]


def _entries(changes: Iterable[GuardChange], with_dims: bool) -> list[str]:
    return [_entry(each.source, each.dim, with_dims) for each in changes if each.kind in _KINDS]


def _entry(source: str, dim: int | None, with_dims: bool) -> str:
    return f"{source}:{dim}" if with_dims and dim is not None else source
