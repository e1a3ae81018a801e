"""What one run of the program did, as counts that two runs are compared by."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from statistics import median

from fullgraph.analysis import analyze
from fullgraph.analysis.eager_calls import calls_of, count_calls
from fullgraph.analysis.occurrences import qualified_name
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Call, Code, Compile, Recompile
from fullgraph.model.report import RecompileGroup, Report
from fullgraph.model.session import Session
from fullgraph.recompiles.messages import COMPILED_OUTCOMES

_FEWEST_STEADY_CALLS = 5

# A function by its file and name: remedies move lines.
FunctionKey = tuple[str, str, bool]
# One call: the number of its torch.compile, and its own number.
CallKey = tuple[int, int]


def _key(file: str, qualified: str, resumed_at: int | None) -> FunctionKey:
    # A replay knows the script by the name that the user typed.
    return os.path.realpath(file), qualified, resumed_at is not None


def key_of(group: RecompileGroup) -> FunctionKey:
    """Return the function of a group."""
    return _key(group.file, group.qualified, group.resumed_at)


class RunFacts:
    """The counts of one run."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.sessions = tuple(sessions)
        self._state = AnalysisState(sessions)
        self._calls = [call for _, call in self._state.events(Call)]
        self._compiles = [
            each for _, each in self._state.events(Compile) if each.outcome in COMPILED_OUTCOMES
        ]

    @cached_property
    def report(self) -> Report:
        """The report of the run."""
        return analyze(self.sessions)

    @property
    def compiles(self) -> int:
        """The number of compiles of the whole program."""
        return len(self._compiles)

    @cached_property
    def compiles_by_function(self) -> Counter[FunctionKey]:
        """The number of compiles of each function."""
        return Counter(_key_of_code(each.code) for each in self._compiles)

    def recompiles_of(self, group: RecompileGroup) -> int:
        """Return how often a function was compiled again, or refused, for the change of a group."""
        wanted = _change_of(group)
        return sum(
            each.recompiles + each.refused
            for each in self.report.recompile_groups
            if _change_of(each) == wanted
        )

    def targets_of(self, key: FunctionKey) -> set[int]:
        """Return the numbers of the calls of torch.compile whose code runs a function."""
        ids = {each.id for _, each in self._state.events(Compile) if _key_of_code(each.code) == key}
        return {
            call.target for call in self._calls if not ids.isdisjoint((*call.compiles, *call.ran))
        }

    def changing_sources(self, key: FunctionKey) -> set[str]:
        """Return Dynamo's names of what changed in the recompiles of a function."""
        return {
            change.source
            for _, event in self._state.events(Recompile)
            if _key_of_code(event.code) == key
            for failure in event.failures
            for change in failure.changes
        }

    def seconds_compiling(self, key: FunctionKey) -> float:
        """Return the compile time of a function."""
        return sum(each.seconds for each in self._compiles if _key_of_code(each.code) == key)

    @property
    def processes(self) -> int:
        """The number of processes that compiled something."""
        return len({process for process, _ in self._state.events(Compile)})

    def eager_calls(self, key: FunctionKey) -> int:
        """Return how many calls ran in eager mode because of a limit of this function."""
        codes = {each.code for _, each in self._state.events(Compile)}
        counts = [
            count_calls(calls_of(self._state, code)) for code in codes if _key_of_code(code) == key
        ]
        return max((each.eager for each in counts if each is not None), default=0)

    @cached_property
    def compiling_calls(self) -> set[CallKey]:
        """The calls that compiled something."""
        ids = {each.id for each in self._compiles}
        return {
            (call.target, call.number) for call in self._calls if not ids.isdisjoint(call.compiles)
        }

    @cached_property
    def calls_without_graph(self) -> set[CallKey]:
        """The calls that ran no graph."""
        return {
            (call.target, number)
            for call in self._calls
            if not call.ran
            for number in range(call.number, call.number + call.count)
        }

    @cached_property
    def ops_run(self) -> int:
        """The number of operators in the graphs that ran, over all calls."""
        ops: Counter[str] = Counter()
        for graph in self.report.graphs:
            ops[graph.compile] += graph.ops
        return sum(call.count * ops[each] for call in self._calls for each in call.ran)

    def steady_calls(self, key: FunctionKey) -> list[float]:
        """Return the times of the later calls that compile nothing, sorted."""
        targets = self.targets_of(key)
        times = [
            call.seconds / call.count
            for call in self._calls
            if call.target in targets and not call.compiles
        ]
        return sorted(times[len(times) // 2 :])


def _change_of(group: RecompileGroup) -> tuple[object, ...]:
    return key_of(group), group.kind, group.source, group.dim


def call_ratio(before: list[float], after: list[float]) -> float | None:
    """Return how many times as long a steady call takes; None if that cannot be told.

    It can be told if the middle halves of the two times do not overlap.
    """
    if min(len(before), len(after)) < _FEWEST_STEADY_CALLS or not median(before):
        return None
    overlap = _quartile(before, 1) <= _quartile(after, 3) and (
        _quartile(after, 1) <= _quartile(before, 3)
    )
    return None if overlap else round(median(after) / median(before), 2)


def _quartile(times: list[float], number: int) -> float:
    return times[(len(times) - 1) * number // 4]


def _key_of_code(code: Code) -> FunctionKey:
    return _key(code.file, qualified_name(code), code.resumed_at)
