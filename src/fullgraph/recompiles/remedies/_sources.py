"""Dynamo's names of the values that change in a group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fullgraph.model.events import GuardChange
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.context import ProgramContext

_KINDS = ("size", "int", "float")
# The value of a size that has the symbol of another one.
_SIZE = re.compile(r"(\w+)\.size\((\d+)\)")


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


def equal_sizes(group: RecompileGroup) -> Iterator[dict[str, list[int]]]:
    """Yield what could be static if two sizes were equal at first: the one, then the other.

    Both are dynamic, and have one symbol.
    """
    is_size = group.kind == "size" and group.place == "argument" and group.dim is not None
    other = _SIZE.fullmatch(group.values[0]) if group.values else None
    if not is_size or group.dim is None or other is None or "dynamic=True" not in group.notes:
        return
    yield {group.source: [group.dim]}
    yield {f"L['{other[1]}']": [int(other[2])]}
