"""From the result of a search to a fix report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from fullgraph.fix.declarations import declarations
from fullgraph.fix.model import (
    NO_PLAN,
    AcceptedFix,
    FixPlan,
    RemainingCause,
    SearchResult,
    TrialResult,
    combined_plan,
)
from fullgraph.fix.report.diff import plan_diff, text_diff
from fullgraph.fix.report.model import (
    FIX_FORMAT,
    BeforeAfter,
    BreakLocation,
    CallsRun,
    CallTimes,
    Fix,
    FixReport,
    FixSummary,
    RemainingBreak,
    Verification,
)
from fullgraph.fix.runtime.dynamo_config import config_statements
from fullgraph.fix.search.grading import FixGrade, Grading
from fullgraph.fix.source.edits import FileEdits, apply_edits, edited_lines
from fullgraph.fix.source.program import ProgramSource
from fullgraph.fix.source.text import line_at, read_source
from fullgraph.model.grades import CHANGES


def build_report(
    result: SearchResult,
    *,
    grading: Grading,
    seconds: float,
    not_recorded: Mapping[str, int] = MappingProxyType({}),
) -> FixReport:
    """Return the report of a search, before anything is measured."""
    problems = tuple(_problems(result))
    verification = _verification(result, grading, problems)
    return FixReport(
        format=FIX_FORMAT,
        summary=_summary(result, verified=not problems),
        fixes=tuple(_fixes(result, grading)),
        remaining=tuple(
            RemainingBreak(_location(each), each.rejected, each.refusals, each.untried)
            for each in result.remaining
        ),
        settings=result.plan.settings,
        guards=result.final.guards,
        verification=replace(verification, not_recorded=dict(not_recorded)),
        diff=plan_diff(result.plan),
        out_of_time=result.out_of_time,
        seconds=round(seconds, 1),
        budget=round(result.budget, 1),
    )


def with_speed(report: FixReport, speed: CallTimes | str) -> FixReport:
    """Return the report with what was measured, or with the reason why that says nothing."""
    known = report.verification
    if isinstance(speed, str):
        return replace(report, verification=replace(known, speed_unknown=speed))
    facts = replace(
        known,
        speedup=round(speed.ratio, 2),
        speedup_low=round(speed.low, 2),
        speedup_high=round(speed.high, 2),
        seconds_before=speed.before,
        seconds_after=speed.after,
    )
    return replace(report, verification=facts)


def _summary(result: SearchResult, *, verified: bool) -> FixSummary:
    original = result.baseline.report
    fixed = result.final.report or original
    assert original is not None
    assert fixed is not None
    before, after = original.summary, fixed.summary
    return FixSummary(
        causes=BeforeAfter(before.causes, after.causes),
        sites=BeforeAfter(before.sites, after.sites),
        graphs=BeforeAfter(before.graphs, after.graphs),
        skipped_frames=BeforeAfter(before.skipped_frames, after.skipped_frames),
        ops=BeforeAfter(before.ops, after.ops),
        verified=verified,
    )


def _problems(result: SearchResult) -> Iterator[str]:
    for each in _results(result):
        if each.error:
            yield each.error
        yield from map(str, each.differences)
    ran, all_of_them = _varied_with_aot(result), result.final.samples.varied
    if ran < all_of_them:
        yield f"only {ran} of {all_of_them} varied calls ran with aot_eager"


def _varied_with_aot(result: SearchResult) -> int:
    """Return how many varied calls ran with aot_eager; other backends run recorded calls only."""
    return result.other_backends.get("aot_eager", result.final).samples.varied


def _results(result: SearchResult) -> tuple[TrialResult, ...]:
    return (result.final, *result.other_backends.values())


def _verification(
    result: SearchResult, grading: Grading, problems: tuple[str, ...]
) -> Verification:
    results = _results(result)
    by_backend = {"eager": result.final, **result.other_backends}
    samples = result.final.samples
    return Verification(
        recorded_calls=samples.recorded,
        varied_calls=samples.varied,
        raising_calls=samples.raising,
        largest_difference=max(each.largest for each in results),
        gradients=max(each.gradients for each in results),
        zero_gradients=max(each.zero_gradients for each in results),
        recompilations=max(each.recompiled for each in results),
        varied_sites=max(each.varied_sites for each in results),
        backends=("eager", *result.other_backends),
        speedup=None,
        problems=problems,
        probes=grading.probes.eager,
        compiled_probes=grading.probes.compiled,
        probe_backends=grading.probes.backends,
        calls=tuple(
            CallsRun(backend, each.samples.recorded, each.samples.varied)
            for backend, each in by_backend.items()
        ),
    )


def _fixes(result: SearchResult, grading: Grading) -> Iterator[Fix]:
    """Yield the fixes, each with the diff that it adds to those before it."""
    done: list[AcceptedFix] = []
    found = zip(result.fixes, grading.grades, removed_causes(result), strict=True)
    for fix, grade, removes in found:
        before = combined_plan(each.candidate for each in done)
        done.append(fix)
        after = combined_plan(each.candidate for each in done)
        yield _fix(fix, before, after, grade, removes)


def removed_causes(result: SearchResult) -> list[int]:
    """Return how many root causes of the original program each fix removes."""
    gone = _break_keys(result.baseline, NO_PLAN) - _break_keys(result.final, result.plan)
    found = [0] * len(result.fixes)
    # What was gone when a fix was accepted comes first. Then a fix gets its own break, which
    # another one had removed that was dropped as redundant, and then the others that it is for.
    claims = (
        *(Counter(fix.removed) for fix in result.fixes),
        *(Counter([fix.break_key]) for fix in result.fixes),
        *(_served_by_no_other(fix, result) for fix in result.fixes),
    )
    for number, claim in enumerate(claims):
        mine = gone & claim
        gone -= mine
        found[number % len(found)] += mine.total()
    return found


def _served_by_no_other(fix: AcceptedFix, result: SearchResult) -> Counter[str]:
    """Return the breaks of the original program that only this setting or guard is for."""
    general = [each for each in result.fixes if each.candidate.kind in ("setting", "guard")]
    if fix not in general or result.baseline.report is None:
        return Counter()
    mine, *others = (
        {id_ for each in declarations() if each.name == name for id_ in each.ids}
        for name in (fix.candidate.fixer, *(o.candidate.fixer for o in general if o is not fix))
    )
    source = ProgramSource(NO_PLAN.files)
    return Counter(
        source.break_key(cause)
        for cause in result.baseline.report.causes
        if not others or ((cause.id or "") in mine.difference(*others))
    )


def _break_keys(result: TrialResult, plan: FixPlan) -> Counter[str]:
    source = ProgramSource(plan.files)
    return Counter(map(source.break_key, result.report.causes if result.report else ()))


def _fix(fix: AcceptedFix, before: FixPlan, after: FixPlan, grade: FixGrade, removes: int) -> Fix:
    candidate = fix.candidate
    diff = ""
    if candidate.file is not None:
        path = candidate.file.path
        diff = text_diff(path, _edited(before, path), _edited(after, path))
    assert candidate.safety is not None
    return Fix(
        fixer=candidate.fixer,
        title=candidate.title,
        kind=candidate.kind,
        grade=grade.grade,
        assumes=grade.assumes,
        changes=(CHANGES[candidate.safety],) if candidate.safety in CHANGES else (),
        location=_location(fix),
        diff=diff,
        settings=tuple(config_statements(candidate.settings)),
        unreached=grade.unreached,
        changed_file=candidate.path,
        changed_line=_changed_line(fix, candidate.file) if candidate.file else None,
        removes=removes,
        recompiles=candidate.safety == "specialized",
        unreached_sides=grade.sides,
    )


def _changed_line(fix: AcceptedFix, file: FileEdits) -> int:
    """Return the line of the break if the fix changes its file; otherwise its first change."""
    if file.path == fix.cause.file:
        return fix.line
    text = read_source(file.path) or ""
    # Without a changed line, the fix only adds some.
    added = [line_at(text, edit.start) for edit in file.edits]
    return min(edited_lines(text, file.edits) or added, default=1)


def _edited(plan: FixPlan, path: str) -> str:
    edits = plan.files[path].edits if path in plan.files else ()
    return apply_edits(read_source(path) or "", edits)


def _location(found: AcceptedFix | RemainingCause) -> BreakLocation:
    cause = found.cause
    return BreakLocation(
        file=cause.file,
        line=found.line,
        function=cause.function,
        id=cause.id,
        type=cause.type,
        owner=cause.owner,
        shown=found.shown,
    )
