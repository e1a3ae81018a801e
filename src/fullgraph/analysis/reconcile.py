"""Compare the captured counts with torch's own and explain the differences.

Some of torch's own numbers are known to be wrong, so a difference is not an error. The report shows
it anyway, because the reader may know only the other number. The explanation comes from captured
facts.
"""

from __future__ import annotations

from collections import defaultdict

from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.occurrences import Occurrence, list_occurrences
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Graph
from fullgraph.model.report import Disagreement

UNEXPLAINED = "fullgraph cannot explain this difference; please report it"


def find_disagreements(state: AnalysisState) -> tuple[Disagreement, ...]:
    """Return the counts that differ from torch's own."""
    found = (_breaks(state), _graphs(state), _ops(state))
    return tuple(disagreement for disagreement in found if disagreement)


def _breaks(state: AnalysisState) -> Disagreement | None:
    compiles, occurrences = state.result(compiles_by_id), state.result(list_occurrences)
    ours = len(occurrences)
    theirs = sum(event.counted_breaks for event in compiles.values())
    if ours == theirs:
        return None
    uncounted = sum(o.outcome in ("skipped", "raised") for o in occurrences)
    jumps = sum(map(_is_uncounted_jump, occurrences))
    unfinished = sum(bool(o.event.compile) and o.compile not in compiles for o in occurrences)
    parts = []
    if uncounted:
        parts.append(f"{uncounted} that ended in a skipped frame or an error")
    if jumps:
        parts.append(f"{jumps} at a data-dependent branch")
    if unfinished:
        parts.append(f"{unfinished} in a compile that did not finish")
    why = f"torch does not count {' and '.join(parts)}" if parts else UNEXPLAINED
    unexplained = abs(ours - theirs - uncounted - jumps)
    if parts and unexplained and not unfinished:
        why = f"{why}; {unexplained} remain unexplained"
    return Disagreement("breaks", ours, 'torch._dynamo.utils.counters["graph_break"]', theirs, why)


def _is_uncounted_jump(occurrence: Occurrence) -> bool:
    """Return whether torch does not count this branch: it counts only branches in callees."""
    return (
        occurrence.event.reasons[0].type == "Data-dependent branching"
        and occurrence.event.stack.traced == 1
        and occurrence.outcome == "resumed"
    )


def _graphs(state: AnalysisState) -> Disagreement | None:
    compiles, graphs = state.result(compiles_by_id), state.events(Graph)
    ours = len(graphs)
    theirs = sum(event.counted_graphs for event in compiles.values())
    is_unfinished = any((process, graph.compile) not in compiles for process, graph in graphs)
    if ours == theirs or is_unfinished:
        return None
    failed = sum(bool(compiles[process, graph.compile].error) for process, graph in graphs)
    why = UNEXPLAINED
    if ours - theirs == failed:
        why = f"torch does not count {failed} that the backend failed to compile"
    source = 'torch._dynamo.utils.counters["stats"]["unique_graphs"]'
    return Disagreement("graphs", ours, source, theirs, why)


def _ops(state: AnalysisState) -> Disagreement | None:
    """Compare the operations of the compiles for which torch has a number."""
    ours: dict[CompileKey, int] = defaultdict(int)
    for process, graph in state.events(Graph):
        ours[process, graph.compile] += graph.ops
    compiles = state.result(compiles_by_id)
    known = {key: e.counted_ops for key, e in compiles.items() if e.counted_ops is not None}
    captured = sum(ours[key] for key in known)
    theirs = sum(known.values())
    if captured == theirs:
        return None
    return Disagreement(
        "ops", captured, "torch._dynamo.utils.get_compilation_metrics()", theirs, UNEXPLAINED
    )
