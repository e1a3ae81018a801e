"""The fix report of a search: each number, diff and sentence comes from the right place."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.analysis import analyze
from fullgraph.fix.model import (
    AcceptedFix,
    Candidate,
    Difference,
    GuardCost,
    ProbesRun,
    Refusal,
    RejectedCandidate,
    RemainingCause,
    Samples,
    SearchResult,
    TrialResult,
)
from fullgraph.fix.report.build import build_report, with_speed
from fullgraph.fix.report.diff import text_diff
from fullgraph.fix.report.model import (
    FIX_FORMAT,
    BeforeAfter,
    BreakLocation,
    CallsRun,
    CallTimes,
    FixReport,
    Verification,
)
from fullgraph.fix.search.grading import FixGrade, Grading
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.model.events import FORMAT_VERSION, Frame
from fullgraph.model.report import Report, RootCause
from fullgraph.model.session import Header, Session
from tests.fix.causes import root_cause
from tests.fix.reports import VERIFICATION, fix_report

TEXT = "import torch\r\na = 1\r\nb = 2\r\nprint(b)\r\nc = 3\r\n"
GUARD = GuardCost("program.py", 3, "n", "value", "3", 4, 5.0, 0)
DIFFERENCE = Difference("call 1", "an output", "eager")


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "program.py"
    file.write_bytes(TEXT.encode())
    return str(file)


def changed(path: str, before: str, after: str, title: str, **facts: object) -> Candidate:
    """Return a candidate that replaces a piece of the text, which is read with `\\n`."""
    start = TEXT.replace("\r\n", "\n").index(before)
    edits = FileEdits(path, (Edit(start, start + len(before), after),))
    return Candidate(edits, title=title, fixer=f"fixer_of_{title}", **facts)  # type: ignore[arg-type]


def report_with(*causes: RootCause) -> Report:
    empty = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), ())])
    summary = replace(
        empty.summary, causes=len(causes), sites=5 + len(causes), graphs=7, ops=9, skipped_frames=3
    )
    return replace(empty, causes=causes, summary=summary)


def built(program: str, **facts: object) -> FixReport:
    causes = [
        root_cause(file=program, line=line, type=f"at {line}", id=id_)
        for line, id_ in ((2, "GB0170"), (3, "GB0124"), (5, "GB0060"))
    ]
    code = ("a = 1", "b = 2", "c = 3")
    keys = [
        f"{each.id} {each.type} {program} f {each.line} {line}"
        for each, line in zip(causes, code, strict=True)
    ]
    shown = Frame(program, 5, "f")
    fixes = (
        AcceptedFix(
            changed(program, "a = 1", "a = 10", "one", kind="rewrite", safety="exact"),
            causes[0], keys[0], 2,
        ),
        AcceptedFix(
            changed(program, "print(b)\n", "", "two", kind="move", safety="dropped"),
            replace(causes[1], file="/torch/elsewhere.py"), keys[1], 3, shown, (keys[1],),
        ),
        AcceptedFix(
            Candidate(settings={"capture_scalar_outputs": True}, kind="setting",
                      safety="specialized", fixer="capture", title="three"),
            causes[1], "another key", 3,
        ),
    )  # fmt: skip
    remaining = RemainingCause(
        causes[2], 5, (RejectedCandidate("fixer", "title", "it differs"),),
        (Refusal("not safe", 5, "fixer"),), shown,
    )  # fmt: skip
    final = TrialResult(
        # Its line is that of the edited file.
        2, report_with(replace(causes[2], line=4)), largest=0.5, gradients=2, zero_gradients=1,
        samples=Samples(3, 4, 1), recompiled=0, varied_sites=1, guards=(GUARD,),
    )  # fmt: skip
    other = TrialResult(
        3, None, differences=(DIFFERENCE,), largest=0.25, gradients=6, zero_gradients=0,
        recompiled=2, varied_sites=0, error="it crashed", samples=Samples(9, 9, 9),
    )  # fmt: skip
    result = SearchResult(
        TrialResult(1, report_with(*causes)), final, {"aot_eager": other}, fixes, (remaining,),
        out_of_time=True,
    )  # fmt: skip
    grades = (FixGrade("safe"), FixGrade("changes", ("x is finite",), (4,)), FixGrade("assumes"))
    grading = Grading(grades, ProbesRun(11, 5))
    known = {"grading": grading, "seconds": 12.345, **facts}
    return build_report(result, **known)  # type: ignore[arg-type]


def test_the_numbers_of_the_headline_are_before_and_after(program: str) -> None:
    report = built(program)
    summary = report.summary
    assert (summary.causes, summary.sites) == (BeforeAfter(3, 1), BeforeAfter(8, 6))
    assert (summary.graphs, summary.ops) == (BeforeAfter(7, 7), BeforeAfter(9, 9))
    assert (summary.skipped_frames, summary.verified) == (BeforeAfter(3, 3), False)
    assert (report.format, report.seconds, report.out_of_time) == (FIX_FORMAT, 12.3, True)
    assert report.settings == {"capture_scalar_outputs": True}
    assert report.guards == (GUARD,)


def test_the_verification_takes_the_worst_of_all_backends(program: str) -> None:
    expected = Verification(
        recorded_calls=3, varied_calls=4, raising_calls=1, largest_difference=0.5, gradients=6,
        zero_gradients=1, recompilations=2, backends=("eager", "aot_eager"), varied_sites=1,
        speedup=None, problems=("it crashed", str(DIFFERENCE)), probes=11, compiled_probes=5,
        calls=(CallsRun("eager", 3, 4), CallsRun("aot_eager", 9, 9)),
    )  # fmt: skip
    untimed = built(program)
    assert untimed.verification == expected
    times = CallTimes(before=0.4, after=0.1, ratio=4.004, low=3.5, high=4.251)
    timed = with_speed(untimed, times)
    assert timed == replace(
        untimed,
        verification=replace(
            expected, speedup=4.0, seconds_before=0.4, seconds_after=0.1,
            speedup_low=3.5, speedup_high=4.25,
        ),
    )  # fmt: skip
    unknown = with_speed(untimed, "calls compile again").verification
    assert unknown == replace(expected, speed_unknown="calls compile again")


def test_each_fix_has_its_own_part_of_the_diff(program: str) -> None:
    one, two, three = built(program).fixes
    assert one.diff.replace(program, "program.py") == (
        "--- a/program.py\n+++ b/program.py\n@@ -1,5 +1,5 @@\n import torch\n-a = 1\n+a = 10\n"
        " b = 2\n print(b)\n c = 3\n"
    )
    # The second one starts from what the first one has made.
    assert "-print(b)\n" in two.diff
    assert " a = 10\n" in two.diff
    assert (three.diff, three.settings) == (
        "", ("torch._dynamo.config.capture_scalar_outputs = True",),
    )  # fmt: skip
    assert (one.fixer, one.title, one.kind, one.settings) == ("fixer_of_one", "one", "rewrite", ())
    assert [fix.changed_file for fix in (one, two, three)] == [program, program, None]
    # The line of the break, or of the first change if the break is elsewhere.
    assert [fix.changed_line for fix in (one, two, three)] == [2, 4, None]
    assert [fix.recompiles for fix in (one, two, three)] == [False, False, True]


def test_each_fix_has_its_grade_and_the_causes_that_it_removes(program: str) -> None:
    one, two, three = built(program).fixes
    assert [fix.grade for fix in (one, two, three)] == ["safe", "changes", "assumes"]
    assert (two.assumes, two.unreached) == (("x is finite",), (4,))
    assert [fix.changes for fix in (one, two, three)] == [
        (), ("output is dropped in compiled code",), (),
    ]  # fmt: skip
    assert [fix.removes for fix in (one, two, three)] == [1, 1, 0]
    assert one.location == BreakLocation(program, 2, "f", "GB0170", "at 2", "yours")
    assert two.location.shown == Frame(program, 5, "f")


def test_what_remains_has_its_refusals(program: str) -> None:
    (left,) = built(program).remaining
    assert (left.location.line, left.location.type) == (5, "at 5")
    assert left.rejected == (RejectedCandidate("fixer", "title", "it differs"),)
    assert left.refusals == (Refusal("not safe", 5, "fixer"),)


def test_the_whole_diff_keeps_the_line_ends_of_the_file(program: str) -> None:
    assert built(program).diff.replace(program, "program.py") == (
        "--- a/program.py\n+++ b/program.py\n@@ -1,5 +1,4 @@\n"
        " import torch\r\n-a = 1\r\n+a = 10\r\n b = 2\r\n-print(b)\r\n c = 3\r\n"
    )


def test_a_missing_end_of_line_is_said_and_equal_texts_have_no_diff() -> None:
    assert text_diff("/x.py", "a\n", "a\n") == ""
    lines = text_diff("/x.py", "a\nb", "a\nc").splitlines()
    assert lines[-4:] == [
        "-b",
        "\\ No newline at end of file",
        "+c",
        "\\ No newline at end of file",
    ]


@pytest.mark.parametrize(
    ("before", "after", "low", "high", "shown"),
    [
        (1.0, 1.0, 0.95, 1.05, "as fast"), (1.0, 1.2, 0.8, 0.9, "slower"),
        (1.2, 1.0, 1.1, 1.3, "faster"),
        # The interval says that it may be noise.
        (1.0, 1.4, 0.5, 1.1, "unknown"), (1.4, 1.0, 0.9, 2.0, "unknown"),
        # Clearly different, and still less than anybody would notice.
        (1.0, 1.05, 0.94, 0.96, "as fast"), (20e-6, 24e-6, 0.8, 0.9, "as fast"),
        (20e-6, 31e-6, 0.6, 0.7, "slower"), (31e-6, 20e-6, 1.5, 1.6, "faster"),
    ],
)  # fmt: skip
def test_a_speed_is_told_by_its_interval_and_its_size(
    before: float, after: float, low: float, high: float, shown: str
) -> None:
    times = CallTimes(before, after, before / after, low, high)
    found = with_speed(fix_report(), times).verification
    told = {"slower": found.is_slower, "faster": found.is_faster, "as fast": found.is_as_fast}
    assert [name for name, is_so in told.items() if is_so] == [shown] * (shown != "unknown")


def test_without_a_measurement_nothing_is_said_about_speed() -> None:
    assert not VERIFICATION.is_slower
    assert not VERIFICATION.is_faster
    assert not VERIFICATION.is_as_fast
