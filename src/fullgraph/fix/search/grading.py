"""After verification: grade each accepted fix, and choose the plan that may be used."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.fix.model import (
    NO_PLAN,
    AcceptedFix,
    FixPlan,
    ProbesRun,
    SearchResult,
    TrialRequest,
    UnreachedSide,
    combined_plan,
)
from fullgraph.fix.search.assumptions import find_assumptions, probe_request
from fullgraph.fix.search.state import without_fix
from fullgraph.fix.search.verify import Verifier
from fullgraph.fix.source.edits import FileEdits, edited_lines
from fullgraph.fix.source.rewritten_tests import rewritten_tests
from fullgraph.fix.source.text import read_source
from fullgraph.fix.trials.runner import TrialRunner, run_trial
from fullgraph.model.grades import Grade, grade_of

Lines = dict[str, tuple[int, ...]]


class FixGrade(Struct, frozen=True):
    """How far one fix can be trusted."""

    grade: Grade
    assumes: tuple[str, ...] = ()
    # Changed lines of the original that no call and no probe runs.
    unreached: tuple[int, ...] = ()
    # Sides of rewritten tests that no call runs, and for which no input was found, in sentences.
    sides: tuple[str, ...] = ()
    # Whether all that it assumes is metadata of the arguments, which can be checked at each call.
    only_metadata: bool = False


class Grading(Struct, frozen=True):
    """The grades of all fixes of a search, in their order."""

    grades: tuple[FixGrade, ...] = ()
    probes: ProbesRun = ProbesRun()
    # Of the recorded calls.
    signatures: tuple[str, ...] = ()


def grade_fixes(runner: TrialRunner, result: SearchResult) -> Grading:
    """Run probes and the changed lines of the original program, and grade each fix."""
    assumptions = find_assumptions(runner, result)
    unreached = _unreached(runner, result)
    grades = []
    for fix, found in zip(result.fixes, assumptions.by_fix, strict=True):
        candidate = fix.candidate
        lines = _lines_of(fix, unreached)
        assumes = tuple(dict.fromkeys((*candidate.assumes, *found)))
        assert candidate.safety is not None
        sides = _sides_of(fix, assumptions.unreached_sides)
        grade = grade_of(candidate.safety, assumes, untested=bool(lines or sides))
        only_metadata = assumptions.about_metadata.issuperset(assumes)
        grades.append(FixGrade(grade, assumes, lines, sides, only_metadata))
    return Grading(tuple(grades), assumptions.ran, assumptions.signatures)


def _lines_of(fix: AcceptedFix, unreached: Lines) -> tuple[int, ...]:
    file = fix.candidate.file
    if file is None:
        return ()
    changed = edited_lines(read_source(file.path) or "", file.edits)
    return tuple(line for line in changed if line in unreached.get(file.path, ()))


def _sides_of(fix: AcceptedFix, unreached: Sequence[UnreachedSide]) -> tuple[str, ...]:
    file = fix.candidate.file
    if file is None or not unreached:
        return ()
    mine = rewritten_tests(read_source(file.path) or "", file.edits)
    lines = {(each.line, each.shown) for each in mine}
    return tuple(
        str(each)
        for each in unreached
        if each.file == file.path and (each.line, each.test) in lines
    )


def _unreached(runner: TrialRunner, result: SearchResult) -> Lines:
    """Return the changed lines of the original program that neither calls nor probes run."""
    lines = {path: _lines_with_code(path, file) for path, file in result.plan.files.items()}
    if not any(lines.values()):
        return {}
    probes = probe_request(result.fixes, result)
    request = TrialRequest(
        "coverage",
        lines=lines,
        most_probes=probes.most_probes,
        most_compiled=probes.most_compiled,
        compiles_metadata=probes.compiles_metadata,
        tested=probes.tested,
        seconds=probes.seconds,
    )
    found = run_trial(runner, request)
    # Lines that nothing is known about count as not run.
    return lines if found.error else found.unreached


def _lines_with_code(path: str, file: FileEdits) -> tuple[int, ...]:
    """Return the changed lines of a file that can run; `else:` and comments cannot."""
    text = read_source(path) or ""
    try:
        waiting = [compile(text, path, "exec")]
    except SyntaxError:
        return ()
    numbers: set[int] = set()
    while waiting:
        code = waiting.pop()
        numbers.update(line for _, _, line in code.co_lines() if line)
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(line for line in edited_lines(text, file.edits) if line in numbers)


def usable_plan(
    runner: TrialRunner,
    result: SearchResult,
    grading: Grading,
    *,
    unsafe: bool,
    in_memory: bool = False,
    excluded: Sequence[AcceptedFix] = (),
) -> tuple[FixPlan, str]:
    """Return the fixes that may be used, verified together, and why none may if there are none.

    These are the safe ones; with `unsafe`, all that are verified. In memory, fixes that assume only
    metadata are used as well: the plan is then in effect only for calls like the recorded ones.
    `excluded` fixes are not used, whatever their grade.
    """
    kept: Sequence[AcceptedFix] = result.fixes
    checked = False
    for fix, found in zip(result.fixes, grading.grades, strict=True):
        is_checked = in_memory and found.grade == "assumes" and found.only_metadata
        is_allowed = found.grade == "safe" or (unsafe and found.grade != "unverified")
        if is_allowed and not any(fix is each for each in excluded):
            continue
        if not any(fix is each for each in kept):
            continue
        checked = checked or is_checked
        kept = kept if is_checked else without_fix(kept, fix)
    if not kept:
        return NO_PLAN, ""
    if len(kept) < len(result.fixes):
        _, failure = Verifier(runner, result.baseline).verify(kept)
        if failure:
            return NO_PLAN, f"the safe fixes fail without the others: {failure}"
    plan = combined_plan(fix.candidate for fix in kept)
    return replace(plan, signatures=grading.signatures if checked else ()), ""
