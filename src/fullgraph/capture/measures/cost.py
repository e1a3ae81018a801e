"""Where the time of steady calls goes: inside of each graph, and around them.

The first calls of a compiled function are not timed. In some of them the functions around each
graph are noted, and in one of them operators are counted. Only then are calls timed, with two
readings of the clock per graph. Everything is kept in memory and written from time to time.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fullgraph.capture.call_observer import CallObserver, GapFrames
from fullgraph.capture.call_profiler import ProfiledCall, combined, profilers
from fullgraph.capture.compile_listener import torch_id
from fullgraph.capture.compiled_calls import CompiledCall, Target, watcher
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.measures.calls import flush_in_workers
from fullgraph.errors import CaptureError
from fullgraph.model.events import Break, Code, CodeLine, Compile, Cost, Event, Gap, Problem, Skip

# Calls without a compile before a call is timed.
_WARM_UP = 3
# Sequences of graphs of one function that are told apart, and calls that are only looked at.
_MOST_ROUTES = 20
_MOST_OBSERVED = 60
_MOST_PROFILED = 20
# Profiled calls per sequence of graphs.
_PROFILES = 3
# A sequence of graphs that none of so many last calls ran is not waited for: it may never return.
_RECENT = 4
# The numbers of one event; older calls are dropped.
_MOST_NUMBERS = 20_000
# A process that is killed loses fewer timed calls than it has had; then the numbers double.
_FIRST_WRITE = 4

Route = tuple[str, ...]


@dataclass
class RouteCost:
    """The calls that ran the same graphs."""

    graphs: Route
    calls: int = 0
    compiling: int = 0
    frames: list[GapFrames] | None = None
    profiles: list[ProfiledCall] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    timed: int = 0

    def add_row(self, call: CompiledCall) -> None:
        """Keep the times of a call; the oldest half is dropped when there are too many."""
        self.rows.append(_row(call))
        self.timed += 1
        if len(self.rows) * len(self.rows[0]) > _MOST_NUMBERS:
            del self.rows[: (len(self.rows) + 1) // 2]


@dataclass
class TargetCost:
    """The calls of one compiled function, or its backward passes."""

    target: Target
    is_backward: bool
    routes: dict[Route, RouteCost] = field(default_factory=dict)
    calls_since_compile: int = 0
    # Calls that raised an error.
    errors: int = 0
    observed: int = 0
    profiled: int = 0
    recent: deque[RouteCost] = field(default_factory=lambda: deque(maxlen=_RECENT))
    lacks_frames: bool = True
    lacks_profiles: bool = False
    # What the newest call ran where, if it was profiled, for its backward pass.
    operators: dict[int, str] | None = None


class CostMeasure:
    """Decides which calls are timed, and keeps their times."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._costs: dict[tuple[int, bool], TargetCost] = {}
        # The functions that did not become one graph.
        self._eager_codes: set[Code] = set()
        # The newest id in this session by torch's own, which starts from 0/0 again after a reset.
        self._ids: dict[str, str] = {}
        self._lock = threading.Lock()

    def note_event(self, event: Event) -> None:
        """Note the functions that broke, and those that Dynamo did not compile."""
        if isinstance(event, Break):
            self._eager_codes.add(event.root)
        elif isinstance(event, Skip) or (
            isinstance(event, Compile) and event.outcome != "compiled"
        ):
            self._eager_codes.add(event.code)
        if isinstance(event, Compile):
            self._ids[torch_id(event.id)] = event.id

    def started(self, call: CompiledCall) -> None:
        """Look at a call if something is not known yet; then it is not timed."""
        key = call.target.number, call.is_backward
        with self._lock:
            cost = self._costs.setdefault(key, TargetCost(call.target, call.is_backward))
        cost.operators = None
        profilers.use_in_main_thread()
        if cost.lacks_frames and cost.observed < _MOST_OBSERVED:
            cost.observed += 1
            call.observer = CallObserver()
        elif self._should_profile(cost):
            cost.profiled += 1
            call.observer = CallObserver(profilers.start())

    def _should_profile(self, cost: TargetCost) -> bool:
        if cost.profiled >= _MOST_PROFILED:
            return False
        forward = self._costs.get((cost.target.number, False))
        # A backward pass is compared with the call before it, so both are profiled.
        follows_profiled = forward is not None and forward.operators is not None
        return follows_profiled if cost.is_backward else self._lacks_profiles(cost)

    def _lacks_profiles(self, cost: TargetCost) -> bool:
        backward = self._costs.get((cost.target.number, True))
        return cost.lacks_profiles or (backward is not None and backward.lacks_profiles)

    def ended(self, call: CompiledCall) -> None:
        """Keep the times of a steady call."""
        observer = call.observer
        if isinstance(observer, CallObserver):
            observer.stop()
        cost = self._costs[call.target.number, call.is_backward]
        if call.error:
            # It ended somewhere on its route, and says nothing about calls that return.
            cost.errors += 1
            cost.calls_since_compile *= not call.compiles
            return
        with self._lock:
            route = self._route(cost, call)
            if route is not None:
                self._add(cost, route, call, observer)

    def _route(self, cost: TargetCost, call: CompiledCall) -> RouteCost | None:
        graphs = tuple([run.compile for run in call.graphs])
        route = cost.routes.get(graphs)
        if route is None and len(cost.routes) < _MOST_ROUTES:
            route = cost.routes[graphs] = RouteCost(graphs)
        return route

    def _add(self, cost: TargetCost, route: RouteCost, call: CompiledCall, observer: Any) -> None:
        route.calls += 1
        # The first backward pass compiles its graphs.
        if call.compiles or (call.is_backward and route.calls == 1):
            route.compiling += 1
            cost.calls_since_compile = 0
        else:
            cost.calls_since_compile += 1
        if isinstance(observer, CallObserver):
            self._learn(cost, route, observer)
        elif cost.calls_since_compile > _WARM_UP:
            route.add_row(call)
            if route.timed >= _FIRST_WRITE and route.timed & (route.timed - 1) == 0:
                self._emit(self._event(cost, route))
        cost.recent.append(route)
        cost.lacks_frames = any(each.frames is None for each in cost.recent)
        # A call that compiles often runs graphs that no other call runs.
        cost.lacks_profiles = any(
            len(each.profiles) < _PROFILES and each.calls > each.compiling for each in cost.recent
        )

    def _learn(self, cost: TargetCost, route: RouteCost, observer: CallObserver) -> None:
        if route.frames is None:
            route.frames = observer.gap_frames()
        if observer.profiler is None or cost.calls_since_compile == 0:
            return
        forward = None
        if cost.is_backward:
            forward = self._costs[cost.target.number, False].operators or {}
        profiled = observer.profiler.read(route.graphs, self._ids, forward)
        if profiled is not None:
            route.profiles.append(profiled)
            cost.operators = observer.profiler.operators

    def flush(self) -> None:
        """Write everything."""
        with self._lock:
            for cost in self._costs.values():
                for route in cost.routes.values():
                    self._emit(self._event(cost, route))
                if not cost.routes:
                    self._emit(_only_errors(cost))

    def after_fork(self) -> None:
        """Forget the calls of the parent, which writes them itself."""
        self._lock = threading.Lock()
        profilers.after_fork()
        self._costs.clear()
        flush_in_workers(self.flush)

    def _event(self, cost: TargetCost, route: RouteCost) -> Cost:
        profiled = combined(route.profiles) if route.profiles else None
        return Cost(
            target=cost.target.number,
            code=cost.target.code,
            backward=cost.is_backward,
            calls=route.calls,
            compiling=route.compiling,
            graphs=route.graphs,
            gaps=tuple(self._gap(route, profiled, i) for i in range(len(route.graphs) + 1)),
            samples=tuple(route.rows),
            device_seconds=profiled.device_seconds if profiled is not None else None,
        )

    def _gap(self, route: RouteCost, profiled: ProfiledCall | None, index: int) -> Gap:
        frames = route.frames[index] if route.frames is not None else GapFrames((), ())
        return Gap(
            frames=self._kept(frames.frames),
            nested=self._kept(frames.nested),
            profile=profiled.gaps[index] if profiled is not None else None,
        )

    def _kept(self, frames: tuple[CodeLine, ...]) -> tuple[CodeLine, ...]:
        return tuple(frame for frame in frames if frame.code in self._eager_codes)


def _only_errors(cost: TargetCost) -> Cost:
    number = cost.errors
    return Cost(
        target=cost.target.number,
        code=cost.target.code,
        backward=cost.is_backward,
        calls=number,
        compiling=number,
        errors=number,
    )


def _row(call: CompiledCall) -> tuple[int, ...]:
    """Return the nanoseconds of the gaps and graphs of a call, in turn."""
    row: list[int] = []
    last = call.started
    for run in call.graphs:
        row += (run.started - last, run.ended - run.started)
        last = run.ended
    row.append(call.ended - last)
    return tuple(row)


def start(emit: Callable[[Event], None]) -> None:
    """Measure the calls of this process from now on."""
    measure = CostMeasure(emit)
    capture.subscribe(measure.note_event)
    watcher.listen(measure)
    for watch, missing in (
        (watcher.watch_backward, "backward passes are not measured"),
        (profilers.watch, "operators between graphs are not counted"),
    ):
        try:
            watch()
        except CaptureError as error:
            emit(Problem(f"{missing}: {error}"))
    atexit.register(measure.flush)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=measure.after_fork)
