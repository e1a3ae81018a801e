"""What probes and coverage make of a change for which no call differs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fullgraph.fix.model import FailedProbe, ProbesRun, TrialResult, UnreachedSide
from fullgraph.fix.verify.findings import judged
from fullgraph.fix.verify.report import VERIFY_FORMAT, VerifyReport

_REPORT = VerifyReport(VERIFY_FORMAT, "unverified", None)
_NOTHING = TrialResult(1, None, probes=ProbesRun(10, 2))
_ORDINARY = "the numbers in `x` are like those of the recorded calls"


def _judged(
    probed: TrialResult = _NOTHING, exercised: TrialResult = _NOTHING, *, changes: str = ""
) -> VerifyReport:
    report = replace(_REPORT, changes=(changes,) if changes else ())
    return judged(report, {}, probed, exercised)


def _failing(assumption: str) -> TrialResult:
    failed = FailedProbe("`x` is small", assumption, "outputs: differs", "eager")
    return replace(_NOTHING, failed_probes=(failed,))


def test_a_change_without_any_difference_is_safe() -> None:
    found = _judged()
    assert (found.verdict, found.grade, found.evidence.probes) == ("verified", "safe", 10)


@pytest.mark.parametrize("assumption", [_ORDINARY, f"{_ORDINARY} where gradients matter"])
def test_a_difference_for_other_ordinary_numbers_is_one(assumption: str) -> None:
    found = _judged(_failing(assumption))
    assert (found.verdict, found.grade) == ("different", None)
    assert found.evidence.differences[0].call == "`x` is small"


@pytest.mark.parametrize("assumption", ["`x` has no NaN", f"{_ORDINARY}, or `x` is torch.float32"])
def test_other_differences_of_probes_are_assumptions(assumption: str) -> None:
    found = _judged(_failing(assumption))
    assert (found.verdict, found.grade) == ("verified", "assumes")
    assert found.assumptions == (assumption,)


def test_a_change_of_the_compiler_is_the_grade() -> None:
    found = _judged(_failing("`x` has no NaN"), changes="it switches the compiler off")
    assert (found.verdict, found.grade) == ("verified", "changes")


@pytest.mark.parametrize(
    "exercised",
    [
        replace(_NOTHING, unreached={"f.py": (3,)}),
        replace(_NOTHING, unreached_new={"f.py": (3,)}),
        replace(_NOTHING, unreached_sides=(UnreachedSide("f.py", 3, "x > 0", True),)),
    ],
)
def test_what_never_ran_is_unverified(exercised: TrialResult) -> None:
    found = _judged(exercised=exercised)
    assert (found.verdict, found.grade) == ("unverified", None)
    assert [(each.file, each.line) for each in found.unexercised] == [("f.py", 3)]


def test_probes_that_fail_verify_nothing() -> None:
    found = _judged(replace(_NOTHING, error="no room"))
    assert (found.verdict, found.grade) == ("unverified", None)
    assert "no room" in found.problem


def test_changed_code_that_ends_its_process_in_a_probe_is_different() -> None:
    found = _judged(replace(_NOTHING, error="the changed code ends its process"))
    assert found.verdict == "different"
