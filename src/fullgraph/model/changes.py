"""Name what changes between the calls of a compiled function, in a few words."""

from __future__ import annotations

from fullgraph.model.events import GuardChange
from fullgraph.model.report import RecompileGroup

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

_PLURAL = (": strides", ": keys", ": marked dimensions", "deterministic algorithms")


def change_title(change: GuardChange | RecompileGroup) -> str:
    """Return what changes, such as `x: size(0)`, `self.k` or `grad mode`."""
    if change.kind == "size":
        return f"{change.name}: size({change.dim})"
    if change.place == "torch" or change.kind not in _PARTS:
        return change.name
    return f"{change.name}: {_PARTS[change.kind]}"


def verb_for(title: str) -> str:
    """Return `change` if a title is plural, otherwise `changes`."""
    return "change" if title.endswith(_PLURAL) else "changes"
