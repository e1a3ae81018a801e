"""Name what changes between the calls of a compiled function, in a few words."""

from __future__ import annotations

from typing import Protocol

from fullgraph.model.events import ChangeKind

# The note about a value that is one of few objects.
ENUMERATION = "a member of an enumeration"

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
    def kind(self) -> ChangeKind:
        """What about the value changes."""

    @property
    def place(self) -> str:
        """Where the value comes from."""

    @property
    def name(self) -> str:
        """The value's name in the program."""

    @property
    def dim(self) -> int | None:
        """The dimension of a size or a stride."""


def change_title(change: NamedChange) -> str:
    """Return what changes, such as `x: size(0)`, `self.k` or `grad mode`."""
    if change.kind == "size":
        return f"{change.name}: size({change.dim})"
    if change.place == "torch" or change.kind not in _PARTS:
        return change.name
    return f"{change.name}: {_PARTS[change.kind]}"
