"""Decide whether the recompiles of a group are right and cannot become many."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.model.changes import ENUMERATION
from fullgraph.model.events import ChangeKind, GuardChange

# What has few values by nature, and how many of them are right.
_FINITE: dict[ChangeKind, int] = {
    "bool": 2,
    "training": 2,
    "grad_mode": 2,
    "inference_mode": 2,
    "requires_grad": 2,
    "none": 2,
    "aliasing": 2,
    "dtype": 2,
    "default_dtype": 2,
    "deterministic": 3,
    "autocast": 3,
    "device": 3,
    "rank": 3,
    "type": 3,
}
# With so few values, a reader may take them for all.
_FEW = 3
_OPEN: tuple[ChangeKind, ...] = ("int", "float", "str", "length", "keys", "num_threads")


def is_bounded(change: GuardChange, values: Sequence[str], is_known: bool) -> bool:
    """Return whether recompiles are right and cannot become many.

    The answer is conservative: two different integers in two calls may be the first of many.
    `is_known` says that the strings are all there are: each piece of compiled code ran again after
    its first call, or the source has each string as a literal.
    """
    distinct = len(set(values))
    if change.kind == "type" and (change.note or not change.before):
        # A class that is created again is another one each time. Older releases do not name the
        # class before, which may have been such a one.
        return False
    if change.note == ENUMERATION:
        return distinct <= _FEW
    if change.kind == "str":
        return is_known and distinct <= _FEW
    # Without a single value, nothing is known.
    return 0 < distinct <= _FINITE.get(change.kind, 0)


def why_not_bounded(change: GuardChange, values: Sequence[str]) -> str | None:
    """Return why few recompiles may still become many; None if that needs no explanation."""
    distinct = len(set(values))
    if change.kind not in _OPEN or distinct > _FEW:
        return None
    return f"only {distinct} values so far, but nothing limits them"
