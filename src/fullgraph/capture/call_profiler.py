"""Profiles one call that is not timed: which compiled code runs when, and which operators.

torch's profiler changes no guards, unlike a dispatch mode. While it runs, Dynamo labels the time it
spends on checking guards and each piece of compiled code.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import statistics
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from fullgraph.capture.dynamo_hooks import END_PROFILER, PREPARE_PROFILER, look_up
from fullgraph.model.events import Piece, Profile

_CALL_LABEL = "fullgraph: call"
_GRAPH_LABEL = "fullgraph: graph"
# Dynamo's own labels.
_REGION = "Torch-Compiled Region: "
_LOOKUP = "TorchDynamo Cache Lookup"
# The engine's label of a step of a backward pass.
_STEP = "autograd::engine::evaluate_function: "
_OPERATOR = "aten::"
_READS_VALUE = "aten::_local_scalar_dense"
_COPIES_TO_HOST = "Memcpy DtoH"
_WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize")
# libkineto announces on stderr that it starts, unless this variable has a higher level.
_LOG_VARIABLE = "KINETO_LOG_LEVEL"
_NO_LOG = "99"
# The longest that a profiler of the program waits for the call that is being profiled.
_MOST_SECONDS = 10.0


class Span(NamedTuple):
    """A labelled time in microseconds, with the compile that it belongs to; empty if none."""

    start: float
    end: float
    compile: str = ""


class ProfiledCall(NamedTuple):
    """The gaps of a profiled call, and the time of its graphs on the device."""

    gaps: list[Profile]
    device_seconds: float | None


def combined(calls: Sequence[ProfiledCall]) -> ProfiledCall:
    """Return what several calls that ran the same graphs did, without what disturbed one of them.

    Finding compiled code takes the same time in each call, so the least counts. Of the rest, the
    median counts.
    """
    devices = [call.device_seconds for call in calls if call.device_seconds is not None]
    return ProfiledCall(
        [_combined_gap(gaps) for gaps in zip(*(call.gaps for call in calls), strict=True)],
        statistics.median(devices) if devices else None,
    )


def _combined_gap(gaps: Sequence[Profile]) -> Profile:
    by_compile: dict[str, list[Piece]] = {}
    for gap in gaps:
        for piece in gap.pieces:
            by_compile.setdefault(piece.compile, []).append(piece)
    devices = [gap.device_seconds for gap in gaps if gap.device_seconds is not None]
    return Profile(
        lookup_seconds=min(gap.lookup_seconds for gap in gaps),
        pieces=tuple(_combined_piece(pieces) for pieces in by_compile.values()),
        device_seconds=statistics.median(devices) if devices else None,
    )


def _combined_piece(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        compile=pieces[0].compile,
        seconds=statistics.median(piece.seconds for piece in pieces),
        operators=statistics.median_low(piece.operators for piece in pieces),
        operator_seconds=statistics.median(piece.operator_seconds for piece in pieces),
        host_copies=statistics.median_low(piece.host_copies for piece in pieces),
        synchronizations=statistics.median_low(piece.synchronizations for piece in pieces),
    )


class CallProfiler:
    """Profiles one call. `before_graph` and `after_graph` label its graphs."""

    def __init__(self, profiler: Any, when_stopped: Callable[[], None]) -> None:
        self._torch = import_module("torch")
        self.profiler = profiler
        self._when_stopped = when_stopped
        self._thread = threading.get_ident()
        self._stopped = threading.Event()
        self._is_cancelled = False
        self._call: Any = None
        self._graph: Any = None
        # The compile whose code ran the operators, by the numbers that autograd gave them.
        self.operators: dict[int, str] = {}

    def start(self) -> None:
        """Start profiling."""
        with _quiet_log():
            self.profiler.__enter__()
        self._call = self._label(_CALL_LABEL)

    def _label(self, name: str) -> Any:
        label = self._torch.autograd.profiler.record_function(name)
        label.__enter__()
        return label

    def before_graph(self) -> None:
        """Start the label of a graph."""
        if not self._stopped.is_set():
            self._graph = self._label(_GRAPH_LABEL)

    def after_graph(self) -> None:
        """End the label of a graph."""
        if self._graph is not None:
            self._graph.__exit__(None, None, None)
            self._graph = None

    def stop(self) -> None:
        """Stop profiling, if that was not done before."""
        if self._stopped.is_set():
            return
        try:
            self.after_graph()
            self._call.__exit__(None, None, None)
            self.profiler.__exit__(None, None, None)
        finally:
            self._stopped.set()
            self._when_stopped()

    def make_way(self) -> None:
        """Let a profiler of the program run: stop, or wait for the call of another thread."""
        if threading.get_ident() == self._thread:
            self._is_cancelled = True
            self.stop()
        else:
            self._stopped.wait(_MOST_SECONDS)

    def read(
        self, graphs: Sequence[str], ids: Mapping[str, str], forward: Mapping[int, str] | None
    ) -> ProfiledCall | None:
        """Return what was counted; None if it is not complete.

        `graphs` are the compiles of the graphs that ran, and `ids` the ids of this session by those
        of torch. `forward` is for a backward pass: the `operators` of the call before.
        """
        if self._is_cancelled:
            return None
        events = sorted(self.profiler.function_events, key=_start_of)
        labels = [_span(event) for event in events if event.name == _GRAPH_LABEL]
        call = next((_span(event) for event in events if event.name == _CALL_LABEL), None)
        if call is None or len(labels) != len(graphs):
            return None
        regions = _regions(events, ids)
        self.operators = _operators(events, labels, regions)
        has_device = bool(self._torch.cuda.is_available())
        reader = _GapReader(events, labels, regions, forward, has_device)
        edges = [call.start, *(time for label in labels for time in label[:2]), call.end]
        gaps = [
            reader.read(index, Span(edges[2 * index], edges[2 * index + 1], next_graph))
            for index, next_graph in enumerate((*graphs, ""))
        ]
        return ProfiledCall(gaps, reader.device_seconds_of_graphs() if has_device else None)


class Profilers:
    """The profilers of this process, of which torch can run only one, in whatever threads."""

    def __init__(self) -> None:
        self._is_watching = False
        self._is_used = False
        self._own: CallProfiler | None = None
        # The program's own profilers that are ready or running.
        self._others: set[int] = set()
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Notice the profilers of the program; without this, no call is profiled."""
        version = str(import_module("torch").__version__)
        owner, prepare, original_prepare = look_up(version, PREPARE_PROFILER)
        _, end, original_end = look_up(version, END_PROFILER)
        setattr(owner, prepare, self._noting_start(original_prepare))
        setattr(owner, end, self._noting_end(original_end))
        self._is_watching = True

    def start(self) -> CallProfiler | None:
        """Return a running profiler; None if the program or another thread runs one."""
        with self._lock:
            if self._own is not None or self._others or not self._is_watching:
                return None
            torch = import_module("torch")
            device = "cuda" if torch.cuda.is_available() else None
            profiler = torch.autograd.profiler.profile(use_device=device)
            self._own = own = CallProfiler(profiler, self._note_stop)
        own.start()
        return own

    def use_in_main_thread(self) -> None:
        """Run a profiler once: torch writes an error message if another thread is the first."""
        if not self._is_used and threading.current_thread() is threading.main_thread():
            self._is_used = True
            profiler = self.start()
            if profiler is not None:
                profiler.stop()

    def after_fork(self) -> None:
        """Replace the lock in a forked child: a thread of the parent may have held it."""
        self._lock = threading.Lock()

    def _note_stop(self) -> None:
        self._own = None

    def _noting_start(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def prepare(profiler: Any, *args: Any, **kwargs: Any) -> Any:
            with self._lock:
                own = self._own
                is_own = own is not None and own.profiler is profiler
                if not is_own:
                    self._others.add(id(profiler))
            if own is not None and not is_own:
                own.make_way()
            return original(profiler, *args, **kwargs)

        return prepare

    def _noting_end(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def end(profiler: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(profiler, *args, **kwargs)
            finally:
                self._others.discard(id(profiler))

        return end


class _GapReader:
    """Sorts the events of a call by the gap that they are in."""

    def __init__(
        self,
        events: Sequence[Any],
        graphs: Sequence[Span],
        regions: Sequence[Span],
        forward: Mapping[int, str] | None,
        has_device: bool,
    ) -> None:
        self._regions = regions
        self._lookups = [_span(event) for event in events if event.name == _LOOKUP]
        self._all_steps = [event for event in events if event.name.startswith(_STEP)]
        self._forward = forward
        self._has_device = has_device
        self._by_gap: list[list[Any]] = [[] for _ in range(len(graphs) + 1)]
        self._in_graphs: list[Any] = []
        starts = [graph.start for graph in graphs]
        for event in events:
            begun = bisect_right(starts, _start_of(event))
            is_inside = begun > 0 and event.time_range.end <= graphs[begun - 1].end
            (self._in_graphs if is_inside else self._by_gap[begun]).append(event)

    def device_seconds_of_graphs(self) -> float:
        return sum(map(_device_seconds, self._in_graphs))

    def read(self, index: int, gap: Span) -> Profile:
        """Return what a gap did; its `compile` is that of the graph after it."""
        events = self._by_gap[index]
        is_forward = self._forward is None
        lookup, times = self._split(gap) if is_forward else (0.0, self._steps(gap))
        counts: dict[str, list[Any]] = {name: [] for name in times}
        for event in events:
            name = self._region_of(event) if is_forward else self._step_of(event)
            counts.setdefault(name, []).append(event)
        return Profile(
            lookup_seconds=lookup / 1e6,
            pieces=tuple(_piece(name, times.get(name, 0.0), counts[name]) for name in counts),
            device_seconds=sum(map(_device_seconds, events)) if self._has_device else None,
        )

    def _split(self, gap: Span) -> tuple[float, dict[str, float]]:
        """Return the time of look-ups, and the rest of the gap by the compiled code it is in."""
        inside = [span for span in (*self._regions, *self._lookups) if _overlaps(span, gap)]
        edges = {gap.start, gap.end}
        for span in inside:
            edges |= {max(span.start, gap.start), min(span.end, gap.end)}
        lookup = 0.0
        times: dict[str, float] = {}
        for start, end in itertools.pairwise(sorted(edges)):
            region = _innermost(self._regions, start, end)
            enters = region is not None and region.end >= gap.end and region.compile == gap.compile
            if enters or _innermost(self._lookups, start, end):
                lookup += end - start
            else:
                name = region.compile if region is not None else ""
                times[name] = times.get(name, 0.0) + end - start
        return lookup, times

    def _steps(self, gap: Span) -> dict[str, float]:
        """Return the time of a backward pass by the compiled code of the call before."""
        times = {"": gap.end - gap.start}
        for event in self._all_steps:
            # The step of a backward graph starts before the graph and ends after it.
            start, end = _span(event)[:2]
            time = max(0.0, min(end, gap.end) - max(start, gap.start))
            name = self._step_of(event)
            times[name] = times.get(name, 0.0) + time
            times[""] -= time
        return {name: max(0.0, time) for name, time in times.items()}

    def _region_of(self, event: Any) -> str:
        region = _innermost(self._regions, *_span(event)[:2])
        return region.compile if region is not None else ""

    def _step_of(self, event: Any) -> str:
        """Return the compile whose code ran the operator that a step of backward belongs to."""
        while event is not None and not event.name.startswith(_STEP):
            event = event.cpu_parent
        return "" if event is None else (self._forward or {}).get(event.sequence_nr, "")


def _piece(compile_id: str, microseconds: float, events: Sequence[Any]) -> Piece:
    operators = [event for event in events if _is_outer_operator(event)]
    return Piece(
        compile=compile_id,
        seconds=microseconds / 1e6,
        operators=len(operators),
        operator_seconds=sum(event.time_range.elapsed_us() for event in operators) / 1e6,
        host_copies=sum(_copies_to_host(event) for event in events),
        synchronizations=sum(event.name in _WAITS for event in events),
    )


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    if _LOG_VARIABLE in os.environ:
        yield
        return
    os.environ[_LOG_VARIABLE] = _NO_LOG
    try:
        yield
    finally:
        os.environ.pop(_LOG_VARIABLE, None)


def _regions(events: Sequence[Any], ids: Mapping[str, str]) -> list[Span]:
    """Return the times of compiled code."""
    found = []
    for event in events:
        if event.name.startswith(_REGION):
            torch_id = event.name.removeprefix(_REGION)
            found.append(Span(*_span(event)[:2], ids.get(torch_id, torch_id)))
    return found


def _operators(
    events: Sequence[Any], graphs: Sequence[Span], regions: Sequence[Span]
) -> dict[int, str]:
    """Return the compile whose code ran each operator that autograd numbered, outside of graphs.

    Operators without a gradient have the number of the next one that has one, so the last counts.
    """
    found: dict[int, str] = {}
    for event in events:
        number = getattr(event, "sequence_nr", -1)
        if number >= 0:
            times = event.time_range.start, event.time_range.end
            region = None if _innermost(graphs, *times) else _innermost(regions, *times)
            found[number] = region.compile if region is not None else ""
    return found


def _innermost(regions: Sequence[Span], start: float, end: float) -> Span | None:
    """Return the region that started last of those that contain a time; None if none does."""
    found = [region for region in regions if region.start <= start and end <= region.end]
    return found[-1] if found else None


def _overlaps(span: Span, gap: Span) -> bool:
    return span.start < gap.end and gap.start < span.end


def _is_outer_operator(event: Any) -> bool:
    """Return whether an event is an operator that no other operator calls."""
    if not event.name.startswith(_OPERATOR):
        return False
    parent = event.cpu_parent
    while parent is not None:
        if parent.name.startswith(_OPERATOR):
            return False
        parent = parent.cpu_parent
    return True


def _copies_to_host(event: Any) -> bool:
    return bool(event.name == _READS_VALUE or event.name.startswith(_COPIES_TO_HOST))


def _span(event: Any) -> Span:
    return Span(event.time_range.start, event.time_range.end)


def _start_of(event: Any) -> float:
    start: float = event.time_range.start
    return start


def _device_seconds(event: Any) -> float:
    return float(getattr(event, "self_device_time_total", 0.0)) / 1e6


profilers = Profilers()
