"""When two runs of a program count as equal."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.model.results import (
    CallResult,
    Record,
    RunStart,
    TensorFacts,
    difference,
    encode_record,
    read_records,
)
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.messages import ReplayRequest
from fullgraph.recompiles.pipeline import _rank
from fullgraph.recompiles.replayed_program import _Run
from fullgraph.recompiles.report import Counts, ReplayResult
from fullgraph.recompiles.search import Tried

TENSOR = TensorFacts("float32", (2,), False, 3.0, 3.0, (1.0, 2.0))
CALL = CallResult(1, "forward", {".0": TENSOR, ".1": "7"})


def with_output(tensor: TensorFacts) -> CallResult:
    return replace(CALL, outputs={".0": tensor, ".1": "7"})


def test_equal_calls_do_not_differ() -> None:
    assert difference(CALL, CALL) == ""


def test_rounding_is_no_difference() -> None:
    rounded = replace(TENSOR, total=3.00001, samples=(1.000001, 2.000009))
    assert difference(CALL, with_output(rounded)) == ""


@pytest.mark.parametrize(
    "changed",
    [
        replace(TENSOR, samples=(1.0, 2.1)),
        replace(TENSOR, total=3.1),
        replace(TENSOR, samples=(1.0, math.nan)),
        replace(TENSOR, dtype="float64"),
        replace(TENSOR, shape=(1, 2)),
        replace(TENSOR, requires_grad=True),
    ],
)
def test_other_values_and_properties_are_differences(changed: TensorFacts) -> None:
    assert difference(CALL, with_output(changed)).startswith("output .0: ")


def test_the_same_nan_is_no_difference() -> None:
    nan = with_output(replace(TENSOR, total=math.nan, samples=(math.nan, 2.0)))
    assert difference(nan, nan) == ""


def test_gradients_that_are_needed_now_can_be_ignored() -> None:
    changed = with_output(replace(TENSOR, requires_grad=True))
    assert difference(CALL, changed, any_requires_grad=True) == ""


@pytest.mark.parametrize(
    ("calls", "differing"),
    [
        (["warm"], []),
        (["warm", "warm"], ["warm"]),
        (["other", "warm"], ["other"]),
    ],
)
def test_only_the_warm_up_may_need_gradients_now(
    monkeypatch: pytest.MonkeyPatch, calls: list[str], differing: list[str]
) -> None:
    found: list[str] = []
    monkeypatch.setattr(_Run, "end", lambda *outcome: found.append(outcome[2].split()[3][:-1]))
    run = _Run(ReplayRequest(("program.py",), "", 1.0, warmed_up=("warm",)))
    for name in calls:
        before = replace(CALL, name=name)
        after = replace(with_output(replace(TENSOR, requires_grad=True)), name=name)
        run._compare(iter([before]), after)
    assert found == differing


def test_a_remedy_that_comes_last_is_not_first_though_it_saves_more() -> None:
    def tried(compiles: int, comes_last: bool) -> Tried:
        same = Counts(0, 0)
        result = ReplayResult(Counts(3, compiles), same, same, same, 1.0, 1.0, None, True)
        return Tried(Candidate("", comes_last=comes_last), result)

    assert _rank(tried(2, False)) < _rank(tried(1, True))


def test_an_error_and_a_missing_output_are_differences() -> None:
    assert "raises ValueError" in difference(CALL, replace(CALL, error="ValueError"))
    assert ".1 is only in one run" in difference(CALL, replace(CALL, outputs={".0": TENSOR}))
    state = replace(CALL, state={"weight.grad": TENSOR})
    assert "weight.grad" in difference(CALL, state)


def test_a_file_that_ends_in_the_middle_is_read_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "run.results"
    records: list[Record] = [RunStart(7), CALL]
    data = b"".join(map(encode_record, records))
    file.write_bytes(data + encode_record(CALL)[:-3])
    assert list(read_records(file)) == records
