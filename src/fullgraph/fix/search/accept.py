"""When the result of a trial is good enough to accept its candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from fullgraph.fix.model import AcceptedFix, Candidate, TrialResult
from fullgraph.fix.search.state import SearchState
from fullgraph.fix.source.program import ProgramSource
from fullgraph.model.fix_kinds import Safety
from fullgraph.model.report import RootCause

# A fix may reveal breaks behind the one it removes, but not any number of them.
_MOST_REVEALED = 4
_SAFETIES: tuple[Safety, ...] = get_args(Safety)


def remaining_breaks(result: TrialResult) -> tuple[int, int, int]:
    """Return break sites with skipped frames, skipped frames, and graphs: less is better."""
    if result.report is None:
        return (10**9, 0, 0)
    summary = result.report.summary
    return (summary.sites + summary.skipped_frames, summary.skipped_frames, summary.graphs)


def remaining_cost(result: TrialResult) -> tuple[int, int, int]:
    """Return the same for a mitigation: the operations in graphs matter, not their number."""
    breaks, frames, _ = remaining_breaks(result)
    return (breaks, frames, -_ops(result))


def _ops(result: TrialResult) -> int:
    return result.report.summary.ops if result.report else 0


def least_safe(candidates: Iterable[Candidate]) -> Safety:
    """Return the least safe level that some candidates claim."""
    levels = [each.safety for each in candidates if each.safety is not None]
    return max(levels, key=_SAFETIES.index, default="exact")


def least_safe_fix(fixes: Iterable[AcceptedFix]) -> Safety:
    """Return the least safe level that some fixes claim."""
    return least_safe(fix.candidate for fix in fixes)


def failure_of(result: TrialResult) -> str:
    """Return the error or the first difference of a trial; empty without one."""
    if result.error or result.report is None:
        return result.error or "nothing was captured"
    return str(result.differences[0]) if result.differences else ""


def rejection_reason(
    result: TrialResult, state: SearchState, source: ProgramSource, causes: Sequence[RootCause]
) -> str:
    """Return why a trial is not good enough; empty if it is.

    `source` is the program under the tried plan. `causes` are the breaks that must be gone; a
    mitigation has none.
    """
    failure = failure_of(result)
    if failure or result.report is None:
        return failure
    if result.recompiled > state.current.recompiled:
        return f"repeated calls recompile {result.recompiled} times"
    left = {source.break_key(cause) for cause in result.report.causes}
    if causes and {state.source.break_key(cause) for cause in causes} <= left:
        return "the break is still there"
    before, after = remaining_breaks(state.current), remaining_breaks(result)
    if not causes:
        ops = _ops(state.current), _ops(result)
        if ops[1] < ops[0]:
            return f"{ops[1]} instead of {ops[0]} operations run in graphs"
        return "" if _costs_less(result, state.current) else "it does not cost less than before"
    if after < before:
        return ""
    return _replacement(result, state, source, causes) or (
        f"it reveals {after[0] - before[0]} breaks" if after[0] > before[0] + _MOST_REVEALED else ""
    )


def _costs_less(result: TrialResult, current: TrialResult) -> bool:
    cost, old_cost = remaining_cost(result), remaining_cost(current)
    fewer_graphs = remaining_breaks(result) < remaining_breaks(current)
    return cost < old_cost or (cost == old_cost and fewer_graphs)


def _replacement(
    result: TrialResult, state: SearchState, source: ProgramSource, causes: Sequence[RootCause]
) -> str:
    """Return a new break in the functions of those that are gone; empty without one."""
    known = {state.source.break_key(cause) for cause in state.causes}
    functions = {(cause.file, cause.function) for cause in causes}
    for cause in result.report.causes if result.report else ():
        is_new = source.break_key(cause) not in known
        if is_new and (cause.file, cause.function) in functions:
            return f"another break takes its place: {cause.type}"
    return ""
