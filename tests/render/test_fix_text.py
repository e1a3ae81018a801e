"""The terminal report of `fullgraph fix`."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fullgraph.fix.model import Refusal, RejectedCandidate
from fullgraph.fix.report.model import FixReport, RemainingBreak
from fullgraph.model.events import Frame
from fullgraph.render import render
from tests.fix.reports import FIX, GUARD_FIX, LOCATION, VERIFICATION, fix_report, guard


def text_of(report: FixReport) -> str:
    """Return the text of a report with single spaces, so that line breaks do not matter."""
    return " ".join(render("fix", report, "text", width=100, command="model.py").split())


@pytest.mark.parametrize(
    ("before", "after", "shown", "will_apply"),
    [
        (2e-3, 1e-3, "2.0x faster", True),
        (1e-3, 2e-3, "SLOWER: a call takes 2.00 times as long", False),
        # A large part of a short call, and a small part of a long one.
        (20e-6, 28e-6, "as fast as before", True),
        (28e-6, 20e-6, "as fast as before", True),
        (1.0, 1.05, "as fast as before", True),
    ],
)
def test_only_a_difference_beyond_the_noise_counts(
    before: float, after: float, shown: str, will_apply: bool
) -> None:
    speedup = round(before / after, 2)
    facts = replace(VERIFICATION, speedup=speedup, seconds_before=before, seconds_after=after)
    text = text_of(fix_report(FIX, verification=facts))
    assert shown in text
    assert ("apply with: fullgraph fix --apply model.py" in text) == will_apply
    assert ("fullgraph fix --apply --force model.py" in text) != will_apply


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


def test_a_break_without_candidates_says_whether_there_was_time() -> None:
    remaining = (RemainingBreak(LOCATION, (), ()),)
    unknown = "no fixer knows this pattern"
    assert unknown in text_of(fix_report(remaining=remaining))
    late = text_of(fix_report(remaining=remaining, out_of_time=True))
    assert "the time was over before a fixer was found" in late
    assert unknown not in late


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
    probed = replace(VERIFICATION, probes=42, compiled_probes=21)
    text = " ".join(text_of(fix_report(FIX, verification=probed)).split())
    assert "42 probes of other properties, 21 of them compiled" in text


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
