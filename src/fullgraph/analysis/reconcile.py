"""Compare the report's counts with torch's own, compile by compile.

torch's counters are known to leave some events out, so a difference is not an error. The report
shows it anyway, because the reader may know only the other number. The explanation comes from
captured facts: they predict what torch counts for each compile, and what they do not predict is
said to be unexplained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.occurrences import DATA_DEPENDENT_BRANCH, Occurrence, list_occurrences
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Compile, Graph
from fullgraph.model.report import Disagreement

UNEXPLAINED = "fullgraph cannot explain this difference; please report it"


def find_disagreements(state: AnalysisState) -> tuple[Disagreement, ...]:
    """Return the counts that differ from torch's own."""
    found = (_breaks(state), _graphs(state), _ops(state))
    return tuple(disagreement for disagreement in found if disagreement)


def _breaks(state: AnalysisState) -> Disagreement | None:
    compiles, occurrences = state.result(compiles_by_id), state.result(list_occurrences)
    theirs = sum(event.counted_breaks for event in compiles.values())
    reasons = Counter(
        _uncounted_reason(occurrence, compiles)
        for occurrence in occurrences
        if not occurrence.counted or _is_unfinished(occurrence, compiles)
    )
    predicted = Counter(o.compile for o in occurrences if o.counted)
    counted = {key: event.counted_breaks for key, event in compiles.items()}
    return _disagreement(
        "breaks",
        len(occurrences),
        'torch._dynamo.utils.counters["graph_break"]',
        theirs,
        _join("torch does not count", reasons),
        _unpredicted(counted, predicted),
    )


def _uncounted_reason(occurrence: Occurrence, compiles: Mapping[CompileKey, Compile]) -> str:
    if _is_unfinished(occurrence, compiles):
        return "in a compile that did not finish"
    if occurrence.outcome in ("skipped", "raised"):
        return "that ended in a skipped frame or an error"
    if occurrence.outcome == "cut":
        return "that left the rest of a function in eager mode"
    if occurrence.event.reasons[0].type == DATA_DEPENDENT_BRANCH:
        return "at a data-dependent branch"
    return f"that Dynamo raised as {occurrence.event.error}"


def _is_unfinished(occurrence: Occurrence, compiles: Mapping[CompileKey, Compile]) -> bool:
    return bool(occurrence.event.compile) and occurrence.compile not in compiles


def _graphs(state: AnalysisState) -> Disagreement | None:
    compiles, graphs = state.result(compiles_by_id), state.events(Graph)
    counted = {key: event.counted_graphs for key, event in compiles.items()}
    discarded = {key: event.discarded_graphs for key, event in compiles.items()}
    captured = Counter((process, graph.compile) for process, graph in graphs)
    # Sessions of older versions contain graphs that a backend did not accept.
    failed = {key: captured[key] for key, event in compiles.items() if event.error}
    predicted = Counter(captured) + Counter(discarded) - Counter(failed)
    why = [
        _join("torch also counts", {"that Dynamo discarded": sum(discarded.values())}),
        _join("torch does not count", {"that the backend failed to compile": sum(failed.values())}),
    ]
    return _disagreement(
        "graphs",
        len(graphs),
        'torch._dynamo.utils.counters["stats"]["unique_graphs"]',
        sum(counted.values()),
        " and ".join(part for part in why if part),
        _unpredicted(counted, predicted),
    )


def _ops(state: AnalysisState) -> Disagreement | None:
    """Compare the operations of the compiles for which torch has a number."""
    ours: Counter[CompileKey] = Counter()
    changed: Counter[CompileKey] = Counter()
    for process, graph in state.events(Graph):
        ours[process, graph.compile] += graph.ops
        changed[process, graph.compile] += graph.changed_ops
    compiles = state.result(compiles_by_id)
    known = {key: e.counted_ops for key, e in compiles.items() if e.counted_ops is not None}
    by_backend = {key: number for key, number in changed.items() if number and key in known}
    why = f"torch counts after the backend changed {len(by_backend)} of the graphs"
    return _disagreement(
        "ops",
        sum(ours[key] for key in known),
        "torch._dynamo.utils.get_compilation_metrics()",
        sum(known.values()),
        why if by_backend else "",
        _unpredicted(known, {key: ours[key] + changed[key] for key in known}),
    )


def _disagreement(
    what: str, ours: int, source: str, theirs: int, why: str, unexplained: int
) -> Disagreement | None:
    """Return the difference between two counts; None if there is none, not even in one compile."""
    if ours == theirs and not unexplained:
        return None
    if unexplained:
        why = f"{why}; {unexplained} remain unexplained" if why else UNEXPLAINED
    return Disagreement(what, ours, source, theirs, why, unexplained)


def _unpredicted(counted: Mapping[CompileKey, int], predicted: Mapping[CompileKey, int]) -> int:
    """Return how many of torch's counts the captured facts do not predict."""
    return sum(abs(number - predicted.get(key, 0)) for key, number in counted.items())


def _join(claim: str, reasons: Mapping[str, int]) -> str:
    """Return such as `torch does not count 2 at a data-dependent branch`; empty without reasons."""
    parts = [f"{number} {reason}" for reason, number in reasons.items() if number]
    return f"{claim} {' and '.join(parts)}" if parts else ""
