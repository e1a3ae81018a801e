"""Decide whether the recompiles of a group are right and cannot become many."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.model.events import ChangeKind, GuardChange

# What has few values by nature, and how many recompiles that are right.
_FINITE: dict[ChangeKind, int] = {
    "bool": 2,
    "training": 2,
    "grad_mode": 2,
    "inference_mode": 2,
    "requires_grad": 2,
    "none": 2,
    "autocast": 3,
    "dtype": 3,
    "default_dtype": 3,
    "deterministic": 3,
    "device": 3,
    "rank": 3,
}


def why_not_bounded(change: GuardChange, values: Sequence[str]) -> str | None:
    """Return why recompiles may go on; None if they are right and bounded.

    The answer is conservative: two different integers in two calls may be the first of many.
    """
    most = _FINITE.get(change.kind)
    distinct = len(set(values))
    if most is None:
        return None if _comes_back(change, values) else f"{distinct} values so far; more may follow"
    if distinct > most:
        return f"{distinct} values, which is more than expected of a setting"
    return None


def _comes_back(change: GuardChange, values: Sequence[str]) -> bool:
    """Return whether a few values come again and again, so that they seem to be all."""
    distinct = len(set(values))
    return change.kind == "str" and 2 <= distinct <= 3 and len(values) >= 3 * distinct
