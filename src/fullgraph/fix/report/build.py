"""From the result of a search to a fix report."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.model import (
    AcceptedFix,
    FixPlan,
    SearchResult,
    TrialResult,
    combined_plan,
)
from fullgraph.fix.report.diff import plan_diff, text_diff
from fullgraph.fix.report.model import (
    FIX_FORMAT,
    BeforeAfter,
    BreakLocation,
    Fix,
    FixReport,
    FixSummary,
    RemainingBreak,
    Verification,
)
from fullgraph.fix.runtime.dynamo_config import config_statements
from fullgraph.fix.source.edits import apply_edits, edited_lines
from fullgraph.fix.source.text import read_source
from fullgraph.model.report import RootCause

Lines = dict[str, tuple[int, ...]]


def build_report(
    result: SearchResult, *, unreached: Lines, speedup: float | None, seconds: float
) -> FixReport:
    """Return the report of a search; `unreached` are changed lines that no call runs."""
    problems = tuple(_problems(result))
    return FixReport(
        format=FIX_FORMAT,
        summary=_summary(result, verified=not problems),
        fixes=tuple(_fixes(result, unreached)),
        remaining=tuple(
            RemainingBreak(_location(each.cause, each.line), each.rejected, each.refusals)
            for each in result.remaining
        ),
        settings=result.plan.settings,
        guards=result.final.guards,
        verification=_verification(result, speedup, problems),
        diff=plan_diff(result.plan),
        out_of_time=result.out_of_time,
        seconds=round(seconds, 1),
    )


def lines_changed(result: SearchResult) -> Lines:
    """Return the lines of the original files that the accepted fixes change, by file."""
    return {
        path: tuple(edited_lines(read_source(path) or "", file.edits))
        for path, file in result.plan.files.items()
    }


def _summary(result: SearchResult, *, verified: bool) -> FixSummary:
    before = result.baseline.report
    after = result.final.report or before
    assert before is not None
    assert after is not None
    one, other = before.summary, after.summary
    return FixSummary(
        causes=BeforeAfter(one.causes, other.causes),
        sites=BeforeAfter(one.sites, other.sites),
        graphs=BeforeAfter(one.graphs, other.graphs),
        skipped_frames=BeforeAfter(one.skipped_frames, other.skipped_frames),
        ops=BeforeAfter(one.ops, other.ops),
        verified=verified,
    )


def _problems(result: SearchResult) -> Iterator[str]:
    for each in _results(result):
        if each.error:
            yield each.error
        yield from map(str, each.differences)


def _results(result: SearchResult) -> tuple[TrialResult, ...]:
    return (result.final, *result.other_backends.values())


def _verification(
    result: SearchResult, speedup: float | None, problems: tuple[str, ...]
) -> Verification:
    results = _results(result)
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
        speedup=speedup,
        problems=problems,
    )


def _fixes(result: SearchResult, unreached: Lines) -> Iterator[Fix]:
    """Yield the fixes, each with the diff that it adds to those before it."""
    done: list[AcceptedFix] = []
    for fix in result.fixes:
        before = combined_plan(each.candidate for each in done)
        done.append(fix)
        yield _fix(fix, before, combined_plan(each.candidate for each in done), unreached)


def _fix(fix: AcceptedFix, before: FixPlan, after: FixPlan, unreached: Lines) -> Fix:
    candidate = fix.candidate
    diff = ""
    lines: tuple[int, ...] = ()
    if candidate.file is not None:
        path = candidate.file.path
        diff = text_diff(path, _edited(before, path), _edited(after, path))
        changed = edited_lines(read_source(path) or "", candidate.file.edits)
        lines = tuple(line for line in changed if line in unreached.get(path, ()))
    assert candidate.safety is not None
    return Fix(
        fixer=candidate.fixer,
        title=candidate.title,
        kind=candidate.kind,
        safety=candidate.safety,
        location=_location(fix.cause, fix.line),
        diff=diff,
        settings=tuple(config_statements(candidate.settings)),
        unreached=lines,
    )


def _edited(plan: FixPlan, path: str) -> str:
    edits = plan.files[path].edits if path in plan.files else ()
    return apply_edits(read_source(path) or "", edits)


def _location(cause: RootCause, line: int) -> BreakLocation:
    return BreakLocation(cause.file, line, cause.function, cause.id, cause.type, cause.owner)
