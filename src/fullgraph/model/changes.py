"""Name what changes between the calls of a compiled function, in a few words."""

from __future__ import annotations

from typing import Protocol

from fullgraph.model.events import ChangeKind

_PARTS: dict[str, str] = {
    "stride": "strides",
    "rank": "number of dimensions",
    "dtype": "dtype",
    "device": "device",
    "requires_grad": "requires_grad",
    "length": "length",
    "keys": "keys",
    "type": "type",
    "none": "None or not",
    "identity": "identity",
    "aliasing": "aliasing",
    "marking": "marked dimensions",
    "inference_mode": "inference tensor or not",
}


class NamedChange(Protocol):
    """What a `GuardChange` and a `RecompileGroup` have in common."""

    @property
    def kind(self) -> ChangeKind: ...
    @property
    def place(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int | None: ...


def change_title(change: NamedChange) -> str:
    """Return what changes, such as `x: size(0)`, `self.k` or `grad mode`."""
    if change.kind == "size":
        return f"{change.name}: size({change.dim})"
    if change.place == "torch" or change.kind not in _PARTS:
        return change.name
    return f"{change.name}: {_PARTS[change.kind]}"
