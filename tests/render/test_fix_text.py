"""The terminal report of `fullgraph fix`."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fullgraph.fix.model import Refusal, RejectedCandidate, VariantTimes
from fullgraph.fix.report.build import with_speed
from fullgraph.fix.report.model import CallsRun, FixReport, RemainingBreak
from fullgraph.fix.speed import speed_of
from fullgraph.model.events import Frame
from fullgraph.render import render
from tests.fix.reports import FIX, GUARD_FIX, LOCATION, VERIFICATION, fix_report, guard


def text_of(report: FixReport) -> str:
    """Return the text of a report with single spaces, so that line breaks do not matter."""
    return " ".join(render("fix", report, "text", width=100, command="model.py").split())


def rounds(seconds: float, noise: float) -> VariantTimes:
    """Return steady calls that take so long, some of them longer."""
    steady = [seconds * (1 + noise * (number % 5) / 4) for number in range(30)]
    return VariantTimes(1.0, (None, *steady))


@pytest.mark.parametrize(
    ("before", "after", "noise", "shown", "will_apply"),
    [
        (2e-3, 1e-3, 0.1, "speed: 2.0x faster (2.00 to 2.00)", True),
        (1e-3, 2e-3, 0.1, "withdrawn: a call takes 2.00 times as long", False),
        # A large part of a short call, and a small part of a long one.
        (20e-6, 28e-6, 0.0, "speed: as fast as before", True),
        (28e-6, 20e-6, 0.0, "speed: as fast as before", True),
        (1.0, 1.05, 0.0, "speed: as fast as before (0.95 to 0.95)", True),
    ],
)
def test_only_a_difference_beyond_the_noise_counts(
    before: float, after: float, noise: float, shown: str, will_apply: bool
) -> None:
    speed = speed_of(rounds(before, noise), rounds(after, noise))
    text = text_of(with_speed(fix_report(FIX), speed))
    assert shown in text
    assert ("apply with: fullgraph fix --apply model.py" in text) == will_apply
    assert "--force" not in text


def test_a_speed_that_cannot_be_told_says_so() -> None:
    one, other = rounds(1.0, 4.0), rounds(1.0, 4.0)
    shifted = VariantTimes(1.0, (None, *reversed(other.steady[1:])))
    unclear = text_of(with_speed(fix_report(FIX), speed_of(one, shifted)))
    assert "speed: cannot be told: 0." in unclear
    assert "apply with:" in unclear
    few = speed_of(VariantTimes(1.0, (1.0, None)), VariantTimes(1.0, (1.0, 1.0)))
    text = text_of(with_speed(fix_report(FIX), few))
    assert "speed: cannot be told: calls compile again" in text


def test_what_was_measured_later_is_shown_by_itself() -> None:
    report = with_speed(fix_report(FIX), speed_of(rounds(2.0, 0.0), rounds(1.0, 0.0)))
    text = render("fix", report, "text", width=100, only_measured=True)
    assert text == "speed: 2.0x faster (2.00 to 2.00)\n"


def test_the_calls_of_each_backend_are_shown() -> None:
    same = replace(VERIFICATION, calls=(CallsRun("eager", 2, 3), CallsRun("aot_eager", 2, 3)))
    text = text_of(fix_report(FIX, verification=same))
    assert "verification: 2 recorded and 3 varied calls with eager and aot_eager, outputs" in text
    other = replace(same, calls=(*same.calls, CallsRun("inductor", 2, 0)))
    text = text_of(fix_report(FIX, verification=other))
    assert "with eager and aot_eager, 2 recorded and 0 varied calls with inductor, outputs" in text


def test_kinds_of_calls_that_were_not_recorded_are_named() -> None:
    facts = replace(VERIFICATION, not_recorded={"Model": 1, "step": 3})
    text = " ".join(text_of(fix_report(FIX, verification=facts)).split())
    assert "not recorded: 1 more kind of calls of Model, " in text
    assert "not recorded: 3 more kinds of calls of step" in text


def test_fixes_that_failed_verification_are_not_offered() -> None:
    facts = replace(VERIFICATION, problems=("outputs: other values",))
    text = text_of(fix_report(FIX, verification=facts))
    assert "verification: failed: outputs: other values" in text
    assert "fullgraph fix --apply" not in text
    assert "fullgraph run --fix" not in text


IN_PYTHON = replace(
    LOCATION, file="lib/copy.py", line=153, shown=Frame("model.py", 7, "forward", code="copy(x)")
)


def test_a_fix_names_the_file_that_it_changes() -> None:
    fix = replace(FIX, location=IN_PYTHON, changed_file="model.py", changed_line=5)
    assert "1 model.py:5 (break in lib/copy.py:153) `if`" in text_of(fix_report(fix))
    setting = replace(FIX, location=IN_PYTHON, diff="", settings=("x = 1",))
    assert "1 model.py:7 (break in lib/copy.py:153) `if`" in text_of(fix_report(setting))


def test_a_remaining_break_inside_of_python_is_shown_at_the_line_that_leads_there() -> None:
    remaining = RemainingBreak(IN_PYTHON, (), ())
    text = text_of(fix_report(remaining=(remaining,)))
    assert "remaining: model.py:7 (break in lib/copy.py:153) GB0170" in text


def test_a_remaining_break_has_one_line_per_fixer() -> None:
    rejected = [
        RejectedCandidate("setting", "first title", "not yet"),
        RejectedCandidate("other", "title", "no"),
        RejectedCandidate("setting", "first title", "as many breaks remain"),
        RejectedCandidate("setting", "second title", "no"),
    ]
    refusals = (Refusal("a loop", 3, "other"),)
    remaining = RemainingBreak(LOCATION, tuple(rejected), refusals)
    lines = render("fix", fix_report(remaining=(remaining,)), "text", width=200).splitlines()
    assert [line.strip() for line in lines if "tried" in line] == [
        "other: not applied, a loop (line 3); tried title: no",
        "setting: tried first title: as many breaks remain; tried second title: no",
    ]


def test_what_was_not_tried_is_named_with_the_command_that_continues() -> None:
    unknown = RemainingBreak(LOCATION, (), ())
    assert "no fixer knows this pattern" in text_of(fix_report(remaining=(unknown,)))
    late = replace(unknown, untried=("branch_to_where", "branch_to_cond"))
    text = text_of(fix_report(remaining=(unknown, late), out_of_time=True, budget=60.0))
    assert "not tried before the time limit: branch_to_where, branch_to_cond" in text
    assert (
        "the limit of 60 s of CPU time was reached, with candidates for 1 root cause left; "
        "continue with: fullgraph fix --time 240 model.py"
    ) in text


def test_a_guard_is_on_a_value_that_is_computed_from_an_input() -> None:
    text = text_of(fix_report(GUARD_FIX, guards=(guard(7), guard(8, "shape"))))
    assert "model.py:7 a value computed from n is 3" in text
    assert "model.py:8 a size computed from n is 3" in text


def test_a_fix_says_how_many_root_causes_it_removes_unless_it_is_one() -> None:
    assert "safe; removes 2 root causes" in text_of(fix_report(replace(FIX, removes=2)))
    assert "removes" not in text_of(fix_report(FIX))


def test_a_mitigation_is_not_shown_as_a_fix() -> None:
    text = text_of(fix_report(replace(FIX, kind="mitigate", removes=0)))
    assert "1 mitigation: model.py:7 `if`" in text
    assert "the break remains but costs less" in text


def test_a_fix_that_no_probe_has_tried_says_so() -> None:
    assert "no probes of other properties" in text_of(fix_report(FIX))
    backends = {"aot_eager": 21, "eager": 9}
    probed = replace(VERIFICATION, probes=42, compiled_probes=21, probe_backends=backends)
    text = " ".join(text_of(fix_report(FIX, verification=probed)).split())
    assert "42 probes of other properties (21 with aot_eager, 9 with eager)" in text


def test_what_a_fix_assumes_and_changes_is_shown_and_counted_apart() -> None:
    names = tuple(f"`x{number}` has no NaN" for number in range(7))
    text = text_of(fix_report(replace(FIX, grade="assumes", assumes=names)))
    assert "1 fixed (0 safely)" in text
    assert text.count("assumes: ") == 5
    assert "and 2 more assumptions" in text
    assert "fix --apply --unsafe" in text
    assert "fix --apply model.py" not in text
    text = text_of(fix_report(replace(FIX, grade="changes", changes=("output is dropped",))))
    assert "changes: output is dropped" in text


def test_an_unverified_fix_is_not_counted_and_not_offered() -> None:
    text = text_of(fix_report(replace(FIX, grade="unverified", unreached=(7,))))
    assert "0 fixed" in text
    assert "1 not verified" in text
    assert "no call runs line 7" in text
    assert "--apply" not in text
