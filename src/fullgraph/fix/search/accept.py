"""When the result of a trial is good enough to accept its candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, get_args

from fullgraph.fix.model import MOST_VALUE_COMPILES, AcceptedFix, Candidate, TrialResult
from fullgraph.fix.search.attempts import STILL_THERE
from fullgraph.fix.search.state import Attempt, SearchState, lines_touched
from fullgraph.fix.source.program import ProgramSource
from fullgraph.model.fix_kinds import Safety
from fullgraph.model.report import RootCause

# A fix may reveal breaks behind the one it removes, but not any number of them.
_MOST_REVEALED = 4
# A fix may remove operations, such as those of a line that is printed. One that leaves a break and
# less than this part of the operations in graphs has moved code out of the graphs.
_LEAST_OPS = 0.5
_SAFETIES: tuple[Safety, ...] = get_args(Safety)


class Verdict(NamedTuple):
    """What a trial says about the candidates that it ran together."""

    # Why they cannot be accepted together; empty if they can.
    reason: str = ""
    # From the index of a candidate that is to blame to the reason.
    blamed: Mapping[int, str] = MappingProxyType({})
    # Whether the outcomes are right, so that only the breaks speak against the candidates.
    is_correct: bool = True
    # Whether as many breaks remain, and those that came are further on in the same functions.
    gets_further: bool = False


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
    if result.error:
        return result.error
    if result.differences:
        return str(result.differences[0])
    if result.value_compiles > MOST_VALUE_COMPILES:
        return "the program passes too many different values, and each of them compiles"
    return "nothing was captured" if result.report is None else ""


def why_worse(result: TrialResult, before: TrialResult) -> str:
    """Return in what a result is worse although breaks are gone; empty if it is not."""
    if result.report is None or before.report is None:
        return failure_of(result)
    now, then = result.report.summary, before.report.summary
    # More operations: code that ran in eager mode is compiled now.
    if now.graphs > then.graphs and now.ops <= then.ops:
        return f"{now.graphs} instead of {then.graphs} graphs"
    return _leaves_graphs(result, before) or _recompiles_more(result, before)


def _leaves_graphs(result: TrialResult, before: TrialResult) -> str:
    """Return that code has moved out of the graphs, if it has."""
    breaks, _, _ = remaining_breaks(result)
    if breaks and _ops(result) < _LEAST_OPS * _ops(before):
        return f"{_ops(result)} instead of {_ops(before)} operations run in graphs"
    return ""


def _recompiles_more(result: TrialResult, before: TrialResult) -> str:
    """Return that the recorded calls compile again and again, if they do more than before.

    A function may be compiled once more, for other sizes. A value guard that fails with each new
    value compiles for each.
    """
    if result.report is None or before.report is None:
        return ""
    now, then = result.report.summary, before.report.summary
    functions = now.compiles - now.recompiles
    if now.compiles > then.compiles and now.recompiles > then.recompiles + functions:
        return f"calls recompile {now.recompiles} times instead of {then.recompiles}"
    return ""


def judge(
    result: TrialResult, state: SearchState, source: ProgramSource, attempts: Sequence[Attempt]
) -> Verdict:
    """Judge candidates that were tried together; each has to remove its break.

    `source` is the program under the tried plan.
    """
    failure = failure_of(result) or _recompiled(result, state)
    if failure or result.report is None:
        return Verdict(failure, is_correct=False)
    blamed = _blamed(result, state, source, attempts)
    if blamed:
        return Verdict(next(iter(blamed.values())), blamed)
    worse = _leaves_graphs(result, state.current)
    if worse:
        return Verdict(worse)
    before, after = remaining_breaks(state.current), remaining_breaks(result)
    if after < before:
        return Verdict()
    if after[0] > before[0] + _MOST_REVEALED * len(attempts):
        return Verdict(f"it reveals {after[0] - before[0]} breaks")
    replacement = _replacement(result, state, source, attempts, state.met)
    return Verdict(replacement) if replacement else Verdict(gets_further=True)


def _blamed(
    result: TrialResult, state: SearchState, source: ProgramSource, attempts: Sequence[Attempt]
) -> dict[int, str]:
    """Return the candidates whose break is still there, or whose own new line breaks."""
    causes = result.report.causes if result.report else ()
    left = Counter(map(source.break_key, causes))
    known = Counter(map(state.source.break_key, state.causes))
    blamed = {}
    for index, (cause, candidate) in enumerate(attempts):
        key = state.source.break_key(cause)
        own = [each for each in causes if _has_written(candidate, each, source)]
        if left[key] and left[key] >= known[key]:
            blamed[index] = STILL_THERE
        elif own and len(own) >= len(_touched(candidate, state)):
            blamed[index] = f"another break takes its place: {own[0].type}"
    return blamed


def _has_written(candidate: Candidate, cause: RootCause, source: ProgramSource) -> bool:
    """Return whether a candidate has written the line of a break."""
    file = source.open_file(cause.file)
    if candidate.file is None or candidate.file.path != cause.file or file is None:
        return False
    return file.edited.is_written_by(candidate.file.edits, cause.line)


def _touched(candidate: Candidate, state: SearchState) -> list[RootCause]:
    """Return the breaks on the lines that a candidate changes."""
    lines = lines_touched(candidate)
    places = {cause: (cause.file, state.source.original_line(cause)) for cause in state.causes}
    return [cause for cause, place in places.items() if place in lines]


def judge_together(
    result: TrialResult, state: SearchState, source: ProgramSource, attempts: Sequence[Attempt]
) -> Verdict:
    """Judge settings and guards, which are for all breaks at once: one of them must be gone."""
    failure = failure_of(result) or _recompiled(result, state)
    if failure or result.report is None:
        return Verdict(failure, is_correct=False)
    left = {source.break_key(cause) for cause in result.report.causes}
    if {state.source.break_key(cause) for cause, _ in attempts} <= left:
        return Verdict(STILL_THERE)
    worse = _leaves_graphs(result, state.current) or (
        _recompiles_more(result, state.current) if _has_guards(attempts) else ""
    )
    replacement = _replacement(result, state, source, attempts)
    before, after = remaining_breaks(state.current), remaining_breaks(result)
    if worse:
        return Verdict(replacement if after >= before and replacement else worse)
    if after < before:
        return Verdict()
    if after[0] > before[0] + _MOST_REVEALED:
        return Verdict(f"it reveals {after[0] - before[0]} breaks")
    return Verdict(replacement)


def _has_guards(attempts: Sequence[Attempt]) -> bool:
    return any(candidate.kind == "guard" for _, candidate in attempts)


def judge_mitigation(result: TrialResult, state: SearchState) -> Verdict:
    """Judge candidates that leave their breaks: the rest must cost less."""
    failure = failure_of(result) or _recompiled(result, state)
    if failure:
        return Verdict(failure, is_correct=False)
    ops = _ops(state.current), _ops(result)
    if ops[1] < ops[0]:
        return Verdict(f"{ops[1]} instead of {ops[0]} operations run in graphs")
    is_better = _costs_less(result, state.current)
    return Verdict("" if is_better else "it does not cost less than before")


def _recompiled(result: TrialResult, state: SearchState) -> str:
    if result.recompiled > state.current.recompiled:
        return f"repeated calls recompile {result.recompiled} times"
    return ""


def _costs_less(result: TrialResult, current: TrialResult) -> bool:
    cost, old_cost = remaining_cost(result), remaining_cost(current)
    fewer_graphs = remaining_breaks(result) < remaining_breaks(current)
    return cost < old_cost or (cost == old_cost and fewer_graphs)


def _replacement(
    result: TrialResult,
    state: SearchState,
    source: ProgramSource,
    attempts: Sequence[Attempt],
    met: Collection[str] | None = None,
) -> str:
    """Return a new break in the functions of those that are gone; empty without one.

    Given the breaks that the search has met, only those count: getting to one that was not met is
    getting further, and because there are only so many lines, it ends.
    """
    functions = {(cause.file, cause.function) for cause, _ in attempts}
    known = {state.source.break_key(cause) for cause in state.causes}
    for cause in result.report.causes if result.report else ():
        key = source.break_key(cause)
        is_new = key not in known and (met is None or key in met)
        if is_new and (cause.file, cause.function) in functions:
            return f"another break takes its place: {cause.type}"
    return ""
