"""Decide whether a remedy helps: compare a run with it to the run without."""

from __future__ import annotations

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.messages import ReplayOutcome
from fullgraph.recompiles.report import Counts, ReplayResult
from fullgraph.recompiles.run_facts import RunFacts, call_ratio, key_of

# A graph with a symbol may have an operator less than one with a constant.
_FEWEST_OPS = 0.9


def judge(
    group: RecompileGroup,
    candidate: Candidate,
    before: RunFacts,
    after: RunFacts,
    outcome: ReplayOutcome,
) -> ReplayResult | str:
    """Return the comparison of a run that ended, or why the remedy is not offered."""
    result = _compared(group, before, after)
    problem = _problem(candidate, result, before, after)
    if candidate.aim == "compiles" and after.recompiles_of(group) >= before.recompiles_of(group):
        # It helps against another change of the same function.
        problem = problem or "the function compiles again for this change as often"
    if candidate.needs_free_sizes and outcome.compares_sizes:
        problem = problem or "compiled code compares the size, so other sizes might raise"
    return problem or result


def _compared(group: RecompileGroup, before: RunFacts, after: RunFacts) -> ReplayResult:
    key = key_of(group)
    return ReplayResult(
        compiles=Counts(before.compiles_by_function[key], after.compiles_by_function[key]),
        eager_calls=Counts(before.eager_calls(key), after.eager_calls(key)),
        breaks=Counts(before.report.summary.sites, after.report.summary.sites),
        ops=Counts(before.ops_run, after.ops_run),
        seconds_compiling_before=round(before.seconds_compiling(key), 3),
        seconds_compiling_after=round(after.seconds_compiling(key), 3),
        call_ratio=call_ratio(before.steady_calls(key), after.steady_calls(key)),
        outputs_equal=True,
    )


def _problem(candidate: Candidate, result: ReplayResult, before: RunFacts, after: RunFacts) -> str:
    """Return why a remedy is not offered; empty if it helps."""
    eager, compiles = result.eager_calls, result.compiles
    if eager.after > eager.before:
        return "more calls run in eager mode"
    if result.breaks.after > result.breaks.before:
        return "the graph breaks more often"
    if result.ops.after < _FEWEST_OPS * result.ops.before:
        return "fewer operators are in graphs"
    allowed = len({target for target, _ in after.calls_without_graph})
    more = len(after.calls_without_graph) - len(before.calls_without_graph)
    if more > (allowed if candidate.eager_first_calls else 0):
        return "more calls run in eager mode"
    if candidate.aim == "eager_calls":
        return "" if eager.after < eager.before else "as many calls run in eager mode"
    if eager.after == eager.before and compiles.after >= compiles.before:
        return "it compiles as often"
    new = after.compiling_calls - before.compiling_calls - before.calls_without_graph
    if candidate.eager_first_calls:
        new = set()
    if new:
        return "a call compiles that did not compile before"
    return ""
