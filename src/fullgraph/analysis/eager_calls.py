"""Count the calls of a compiled function that ran in eager mode after a limit was reached."""

from __future__ import annotations

from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Call, Code, Recompile
from fullgraph.model.report import CallCounts


def count_calls(state: AnalysisState, code: Code) -> CallCounts | None:
    """Return the outermost calls that lead to a function; None if calls were not captured.

    A call ran in eager mode if a limit had been reached, and neither a graph of the function ran in
    it nor was the function compiled.
    """
    calls = state.events(Call)
    if not calls:
        return None
    ids = {key for key, event in state.result(compiles_by_id).items() if event.code == code}
    refused = {
        (process, event.compile)
        for process, event in state.events(Recompile)
        if event.limit and event.code == code
    }
    targets = {
        (process, call.target)
        for process, call in calls
        if call.code == code
        or any((process, each) in ids | refused for each in (*call.compiles, *call.ran))
    }
    total = eager = position = 0
    first: int | None = None
    reached: set[int] = set()
    for process, call in calls:
        if (process, call.target) not in targets:
            continue
        total += call.count
        if any((process, each) in refused for each in call.compiles):
            reached.add(process)
        compiled = {(process, each) for each in (*call.compiles, *call.ran)} - refused
        if process in reached and ids.isdisjoint(compiled):
            eager += call.count
            first = first or position + 1
        position += call.count
    return CallCounts(total, eager, first)
