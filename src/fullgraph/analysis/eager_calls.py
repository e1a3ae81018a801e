"""Count the calls of a compiled function that a limit made run in eager mode, or raise."""

from __future__ import annotations

from typing import NamedTuple

from fullgraph.analysis.compiles import compiles_by_id, raising_compiles, refused_compiles
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Call, Code, Recompile
from fullgraph.model.report import CallCounts

# Where torch compiles what is not a function of Python: it passes all arguments on.
_WRAPPER = "torch/_dynamo/external_utils.py"


class FunctionCalls(NamedTuple):
    """The outermost calls that lead to a function, and the compiles of the function."""

    calls: list[tuple[int, Call]]
    compiles: set[CompileKey]
    refused: set[CompileKey]
    # Those of `refused` that raised an error, as under fullgraph=True.
    raised: set[CompileKey]


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
    if _WRAPPER in code.file.replace("\\", "/"):
        # A limit of torch's wrapper holds for all that it wraps, so nothing of it ran in the rest.
        wrapped = {
            (process, call.code) for process, call in calls if (process, call.target) in targets
        }
        targets |= {
            (process, call.target) for process, call in calls if (process, call.code) in wrapped
        }
    wanted = [(process, call) for process, call in calls if (process, call.target) in targets]
    refused = found & limit
    return FunctionCalls(wanted, found - limit, refused, refused & state.result(raising_compiles))


def count_calls(function: FunctionCalls) -> CallCounts | None:
    """Return how many calls ran in eager mode or raised; None if no calls were captured.

    A call ran in eager mode if a limit had been reached, and neither a graph of the function ran in
    it nor was the function compiled, unless the limit raised an error in it.
    """
    if not function.calls:
        return None
    total = eager = raised = 0
    first: int | None = None
    first_raised: int | None = None
    at_limit: set[int] = set()
    for process, call in function.calls:
        inside = _compiles_in(process, call)
        if not function.refused.isdisjoint(inside):
            at_limit.add(process)
        if not function.raised.isdisjoint(inside):
            raised += call.count
            first_raised = first_raised or total + 1
        elif process in at_limit and function.compiles.isdisjoint(inside):
            eager += call.count
            first = first or total + 1
        total += call.count
    return CallCounts(total, eager, first, raised, first_raised)


def count_targets(function: FunctionCalls, code: Code) -> int:
    """Return how many results of torch.compile with this code were called."""
    return len({(process, call.target) for process, call in function.calls if call.code == code})


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
