"""How many different values of a kind are right, and when few of them may be the first of many."""

from __future__ import annotations

from typing import get_args

import pytest

from fullgraph.analysis.bounded_recompiles import is_bounded, why_not_bounded
from fullgraph.model.changes import ENUMERATION
from fullgraph.model.events import ChangeKind, GuardChange

MOST: dict[ChangeKind, int] = {
    "bool": 2, "training": 2, "grad_mode": 2, "inference_mode": 2, "requires_grad": 2, "none": 2,
    "aliasing": 2, "dtype": 2, "default_dtype": 2, "deterministic": 3, "autocast": 3, "device": 3,
    "rank": 3, "type": 3,
}  # fmt: skip
OPEN = ("int", "float", "str", "length", "keys", "num_threads")


def change(kind: ChangeKind, note: str = "", before: str = "a") -> GuardChange:
    return GuardChange(kind, "argument", "L['x']", "x", before, "b", note=note)


def bounded(each: GuardChange, *, is_known: bool = False) -> list[int]:
    """Return the numbers of different values, up to 5, that are right."""
    values = [str(number) for number in range(5)]
    return [n for n in range(6) if is_bounded(each, values[:n] * 2, is_known)]


@pytest.mark.parametrize("kind", get_args(ChangeKind))
def test_what_has_few_values_by_nature_may_have_all_of_them(kind: ChangeKind) -> None:
    assert bounded(change(kind)) == list(range(1, MOST.get(kind, 0) + 1))


def test_strings_classes_and_members_of_an_enumeration() -> None:
    # Strings only if they are all there are.
    assert bounded(change("str"), is_known=True) == [0, 1, 2, 3]
    assert bounded(change("int"), is_known=True) == []
    # A class that is made again, or that is not named, may be another one each time.
    assert bounded(change("type", note="made again")) == []
    assert bounded(change("type", before="")) == []
    assert bounded(change("identity", note=ENUMERATION)) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", get_args(ChangeKind))
def test_few_values_of_what_has_no_limit_are_explained(kind: ChangeKind) -> None:
    said = [why_not_bounded(change(kind), [str(n) for n in range(count)]) for count in (2, 3, 4)]
    expected = [f"only {count} values so far, but nothing limits them" for count in (2, 3)]
    assert said == ([*expected, None] if kind in OPEN else [None] * 3)
