"""What compiled code is guarded on: sessions with captured guards in, a `GuardsReport` out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fullgraph.analysis.dynamic_sizes import list_dynamic_sizes
from fullgraph.analysis.occurrences import qualified_name
from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.summary import describe_environment, list_problems
from fullgraph.errors import FullgraphError
from fullgraph.model.events import ChangePlace, Code, Guard, Guards
from fullgraph.model.guard_report import (
    GUARDS_FORMAT,
    GuardedCompile,
    GuardedFunction,
    GuardGroup,
    GuardsReport,
)
from fullgraph.model.report import DynamicSizeFinding
from fullgraph.model.session import Session


def analyze_guards(sessions: Sequence[Session]) -> GuardsReport:
    """Return the guards of all compiled functions, the most expensive first."""
    state = AnalysisState(sessions)
    by_code: dict[Code, list[Guards]] = {}
    for _, event in state.events(Guards):
        by_code.setdefault(event.code, []).append(event)
    functions = [_function(state, code, events) for code, events in by_code.items()]
    functions.sort(key=_seconds, reverse=True)
    return GuardsReport(
        format=GUARDS_FORMAT,
        environment=state.result(describe_environment),
        functions=tuple(functions),
        dynamic_sizes=state.result(list_dynamic_sizes),
        problems=state.result(list_problems),
    )


def only_function(report: GuardsReport, name: str) -> GuardsReport:
    """Return the report of the functions with a name, qualified or not.

    A `FullgraphError` lists the names that there are if none fits.
    """
    functions = tuple(each for each in report.functions if _has_name(each, name))
    if not functions:
        names = ", ".join(dict.fromkeys(_own_name(each) for each in report.functions))
        raise FullgraphError(f"no compiled function is named {name}; there are: {names}")
    sizes = tuple(each for each in report.dynamic_sizes if _has_name(each, name))
    return msgspec.structs.replace(report, functions=functions, dynamic_sizes=sizes)


def _seconds(function: GuardedFunction) -> float:
    costliest = function.costliest
    return (costliest.seconds or 0.0) if costliest is not None else 0.0


def _has_name(function: GuardedFunction | DynamicSizeFinding, name: str) -> bool:
    return name in (function.function, function.qualified, _own_name(function))


def _own_name(function: GuardedFunction | DynamicSizeFinding) -> str:
    return function.qualified.rsplit("<locals>.", 1)[-1]


def _function(state: AnalysisState, code: Code, events: Sequence[Guards]) -> GuardedFunction:
    return GuardedFunction(
        function=code.function,
        qualified=qualified_name(code),
        file=code.file,
        line=code.line,
        owner=state.owners.owner_of(code.file),
        resumed_at=code.resumed_at,
        compiles=tuple(map(_compile, events)),
    )


def _compile(event: Guards) -> GuardedCompile:
    grouped: dict[tuple[str, ChangePlace], list[Guard]] = {}
    for guard in event.guards:
        grouped.setdefault((guard.kind, guard.place), []).append(guard)
    is_timed = event.seconds is not None
    groups = [
        GuardGroup(kind, place, _total(guards) if is_timed else None, tuple(guards))
        for (kind, place), guards in grouped.items()
    ]
    groups.sort(key=lambda group: (-(group.seconds or 0.0), -len(group.guards)))
    return GuardedCompile(
        event.compile, len(event.guards), event.seconds, event.cold_seconds, tuple(groups)
    )


def _total(guards: Sequence[Guard]) -> float:
    return round(sum(guard.seconds for guard in guards), 10)
