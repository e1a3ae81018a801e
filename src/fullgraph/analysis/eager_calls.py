"""Count the calls of a compiled function that ran in eager mode after a limit was reached."""

from __future__ import annotations

from typing import NamedTuple

from fullgraph.analysis.compiles import compiles_by_id, refused_compiles
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Call, Code, Recompile
from fullgraph.model.report import CallCounts


class FunctionCalls(NamedTuple):
    """The outermost calls that lead to a function, and the compiles of the function."""

    calls: list[tuple[int, Call]]
    compiles: set[CompileKey]
    refused: set[CompileKey]


def calls_of(state: AnalysisState, code: Code) -> FunctionCalls:
    """Return the calls of every torch.compile in which a function was compiled or ran."""
    limit = state.result(refused_compiles)
    found = {key for key, event in state.result(compiles_by_id).items() if event.code == code}
    found |= {
        (process, event.compile) for process, event in state.events(Recompile) if event.code == code
    }
    calls = state.events(Call)
    targets = {
        (process, call.target)
        for process, call in calls
        if call.code == code or not found.isdisjoint(_compiles_in(process, call))
    }
    wanted = [(process, call) for process, call in calls if (process, call.target) in targets]
    return FunctionCalls(wanted, found - limit, found & limit)


def count_calls(function: FunctionCalls) -> CallCounts | None:
    """Return how many calls ran in eager mode; None if no calls were captured.

    A call ran in eager mode if a limit had been reached, and neither a graph of the function ran in
    it nor was the function compiled.
    """
    if not function.calls:
        return None
    total = eager = 0
    first: int | None = None
    at_limit: set[int] = set()
    for process, call in function.calls:
        inside = _compiles_in(process, call)
        if not function.refused.isdisjoint(inside):
            at_limit.add(process)
        if process in at_limit and function.compiles.isdisjoint(inside):
            eager += call.count
            first = first or total + 1
        total += call.count
    return CallCounts(total, eager, first)


def all_ran_again(function: FunctionCalls) -> bool:
    """Return whether each piece of compiled code ran in a call that did not compile it."""
    ran = {
        (process, each)
        for process, call in function.calls
        for each in set(call.ran) - set(call.compiles)
    }
    return bool(function.compiles) and function.compiles <= ran


def _compiles_in(process: int, call: Call) -> set[CompileKey]:
    return {(process, each) for each in (*call.compiles, *call.ran)}
