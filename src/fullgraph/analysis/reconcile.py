"""Compares what we captured with what torch itself counts, and says where they differ.

The numbers that torch keeps are known to be wrong in places, so a difference is no alarm. It is
shown all the same, with the reason where we can derive it from captured facts, because the reader
may be looking at the other number.
"""

from __future__ import annotations

from collections import defaultdict

from fullgraph.analysis.state import CompileKey, Ledger, Occurrence
from fullgraph.model.events import Graph
from fullgraph.model.report import Disagreement

UNEXPLAINED = "we cannot explain this difference; please report it"


def reconcile(ledger: Ledger) -> None:
    ledger.disagreements += [
        finding for finding in (_breaks(ledger), _graphs(ledger), _ops(ledger)) if finding
    ]


def _breaks(ledger: Ledger) -> Disagreement | None:
    ours = len(ledger.occurrences)
    theirs = sum(compile_.counted_breaks for compile_ in ledger.compiles.values())
    if ours == theirs:
        return None
    uncounted = sum(o.outcome in ("skipped", "raised") for o in ledger.occurrences)
    jumps = sum(_is_uncounted_jump(o) for o in ledger.occurrences)
    unfinished = sum(
        bool(o.event.compile) and o.compile not in ledger.compiles for o in ledger.occurrences
    )
    parts = []
    if uncounted:
        parts.append(f"{uncounted} that ended in a skipped frame or an error")
    if jumps:
        parts.append(f"{jumps} at a branch on data")
    if unfinished:
        parts.append(f"{unfinished} in a compile that did not finish")
    explained = ours - theirs == uncounted + jumps
    why = f"it leaves out {', '.join(parts)}" if parts else UNEXPLAINED
    if parts and not explained and not unfinished:
        why = f"{why}; {abs(ours - theirs - uncounted - jumps)} remain unexplained"
    return Disagreement("breaks", ours, 'torch._dynamo.utils.counters["graph_break"]', theirs, why)


def _is_uncounted_jump(occurrence: Occurrence) -> bool:
    """A branch in the function being compiled; one in a function that it calls is counted."""
    return (
        occurrence.event.reasons[0].type == "Data-dependent branching"
        and occurrence.event.stack.traced == 1
        and occurrence.outcome == "resumed"
    )


def _graphs(ledger: Ledger) -> Disagreement | None:
    ours = len(ledger.graphs)
    theirs = sum(compile_.counted_graphs for compile_ in ledger.compiles.values())
    if ours == theirs or _is_unfinished(ledger):
        return None
    failed = sum(_failed(ledger, process, graph) for process, graph in ledger.graphs)
    why = UNEXPLAINED
    if ours - theirs == failed:
        why = f"it leaves out {failed} that the backend failed to compile"
    source = 'torch._dynamo.utils.counters["stats"]["unique_graphs"]'
    return Disagreement("graphs", ours, source, theirs, why)


def _failed(ledger: Ledger, process: int, graph: Graph) -> bool:
    compile_ = ledger.compiles.get((process, graph.compile))
    return compile_ is not None and bool(compile_.error)


def _ops(ledger: Ledger) -> Disagreement | None:
    """Operations, only of compiles for which torch kept a figure."""
    ours: dict[CompileKey, int] = defaultdict(int)
    for process, graph in ledger.graphs:
        ours[process, graph.compile] += graph.ops
    known = {k: c.counted_ops for k, c in ledger.compiles.items() if c.counted_ops is not None}
    captured = sum(ours[key] for key in known)
    theirs = sum(known.values())
    if captured == theirs:
        return None
    return Disagreement(
        "ops", captured, "torch._dynamo.utils.get_compilation_metrics()", theirs, UNEXPLAINED
    )


def _is_unfinished(ledger: Ledger) -> bool:
    return any((process, graph.compile) not in ledger.compiles for process, graph in ledger.graphs)
