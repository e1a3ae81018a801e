"""Listens to compiles: frames, their time and result, graphs, late backward graphs, settings."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import msgspec

from fullgraph.capture.break_listener import BreakListener, is_compiled_directly
from fullgraph.capture.dynamo_hooks import SETTINGS
from fullgraph.capture.frame_records import FrameRecord, ListenerContext
from fullgraph.capture.module_listener import ModuleListener
from fullgraph.capture.size_listener import SizeListener
from fullgraph.capture.stacks import describe_code
from fullgraph.model.events import Backward, Code, Compile, CompileOutcome, Graph, Settings, Skip

_LATE_BACKWARD = "LAZY_BACKWARD"
# Between torch's id of a compile and a number, if torch uses the id again.
_AGAIN = "~"


class CompileListener:
    """Emits `Compile`, `Skip`, `Graph`, `Backward` and `Settings`."""

    def __init__(
        self,
        context: ListenerContext,
        breaks: BreakListener,
        modules: ModuleListener,
        sizes: SizeListener,
    ) -> None:
        self._emit = context.emit
        self._internals = context.internals
        self._records = context.records
        self._breaks = breaks
        self._modules = modules
        self._sizes = sizes
        self._settings: Settings | None = None
        # Functions that Dynamo did not try, though functions that they call may be compiled. The
        # key is the id of the code object: code that Dynamo made cannot always be hashed.
        self._skipped: dict[int, tuple[CodeType, Code]] = {}
        self._seen_ids: Counter[str] = Counter()
        self._backward = _BackwardTimer()

    def repeat_for_new_subscriber(self) -> None:
        """Emit the settings and the skipped functions again when they are next met."""
        self._settings = None
        self._skipped.clear()

    def before_frame(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Open a record for a frame that Dynamo is given."""
        self._records.stack.append(FrameRecord(frame=args[1]))

    def after_frame(
        self, _: tuple[Any, ...], __: dict[str, Any], result: Any, error: BaseException | None
    ) -> None:
        """Close the record and emit what happened to the frame."""
        record = self._records.stack.pop()
        self._breaks.emit_kept(record, error)
        if record.compile_id:
            self._emit_compile(record, _outcome(record, result, error))
        elif record.pending is None and error is None and is_compiled_directly():
            self._modules.emit_unnoted(record.frame)
            self._emit_skip(record.frame.f_code, result)

    def _emit_skip(self, code: CodeType, result: Any) -> None:
        if id(code) not in self._skipped:
            described = describe_code(code)
            self._skipped[id(code)] = (code, described)
            self._emit(Skip(described, str(getattr(result, "skip_reason", None) or "")))

    def _emit_compile(self, record: FrameRecord, outcome: CompileOutcome) -> None:
        if outcome != "compiled":
            _discard_graphs(record)
        for graph in record.graphs:
            self._emit(graph)
        self._sizes.emit(record)
        self._emit(
            Compile(
                id=record.compile_id,
                code=record.root(),
                outcome=outcome,
                seconds=round(record.seconds, 6),
                nested=record.nested,
                guards=record.guards,
                restarts=record.restarts,
                error=record.error,
                under=record.under,
                counted_breaks=record.counted[0],
                counted_graphs=record.counted[1],
                counted_ops=record.counted_ops,
                refused_graphs=record.refused_graphs,
                discarded_graphs=record.discarded_graphs,
                error_type=record.error_type,
                error_reason=record.error_reason,
                error_stack=record.error_stack,
            )
        )

    def before_compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Start the compile of the current frame."""
        record = self._records.current
        if record is not None:
            record.code = describe_code(args[0])
            self._start(record, kwargs["compile_id"])

    def after_compile(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        """Finish the compile of the current frame."""
        record = self._records.current
        if record is not None:
            self._finish(record, error)

    def before_capture(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Open a record for code that is traced without a frame; inside a compile, do nothing."""
        current = self._records.current
        if current is None or not current.compile_id:
            record = FrameRecord(frame=None, code=describe_code(args[0]))
            self._records.stack.append(record)
            self._start(record, self._internals.compile_context.current_compile_id())

    def after_capture(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        """Close the record of code that was traced without a frame."""
        record = self._records.current
        if record is None or record.frame is not None:
            return
        self._finish(record, error)
        self._breaks.keep(record, error)
        self._records.stack.pop()
        self._breaks.emit_kept(record, error)
        self._emit_compile(record, "compiled" if error is None else "raised")

    def _start(self, record: FrameRecord, compile_id: Any) -> None:
        self._emit_settings()
        record.torch_id = str(compile_id)
        record.compile_id = self._unique_id(record.torch_id)
        record.under = self._skipped_callers()
        record.nested = any(outer.compile_id for outer in self._records.stack[:-1])
        record.counted = self._count()
        record.metrics_before = self._newest_metrics()
        record.started = time.perf_counter()

    def _finish(self, record: FrameRecord, error: BaseException | None) -> None:
        record.seconds = time.perf_counter() - record.started
        counted = _difference(self._count(), record.counted)
        record.counted = _difference(counted, record.counted_inside)
        outer = next((each for each in reversed(self._records.stack[:-1]) if each.compile_id), None)
        if outer is not None:
            outer.counted_inside = _sum(outer.counted_inside, counted)
        metrics = self._newest_metrics()
        # torch has no metrics of some compiles, and an older compile may have had the same id.
        is_new = metrics is not None and metrics is not record.metrics_before
        if is_new and str(metrics.compile_id) == record.torch_id:
            record.guards = metrics.guard_count
            record.restarts = tuple(sorted(metrics.restart_reasons or ()))
            record.counted_ops = metrics.graph_op_count
        if error is not None and not isinstance(error, self._internals.break_errors):
            record.error = f"{type(error).__name__}: {_first_lines(str(error))}"
            record.error_type = type(error).__name__
            record.error_reason, record.error_stack = self._breaks.describe_error(record, error)

    def _newest_metrics(self) -> Any:
        """Return torch's newest metrics; None if there are none yet."""
        metrics = self._internals.compilation_metrics()
        return metrics[-1] if metrics else None

    def _unique_id(self, identifier: str) -> str:
        """Return a compile id that is not used yet: Dynamo counts from 0/0 again after a reset."""
        self._seen_ids[identifier] += 1
        seen = self._seen_ids[identifier]
        return identifier if seen == 1 else f"{identifier}{_AGAIN}{seen}"

    def _skipped_callers(self) -> tuple[Code, ...]:
        """Return the functions on the stack that Dynamo did not try."""
        if not self._skipped:
            return ()
        found: list[Code] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            skipped = self._skipped.get(id(frame.f_code))
            if skipped is not None:
                found.append(skipped[1])
            frame = frame.f_back
        return tuple(found)

    def _count(self) -> tuple[int, int]:
        """Return torch's own counts of breaks and graphs."""
        counters = self._internals.counters
        return sum(counters["graph_break"].values()), counters["stats"]["unique_graphs"]

    def _emit_settings(self) -> None:
        config = self._internals.config
        settings = Settings({name: _plain(getattr(config, name, None)) for name in SETTINGS})
        if settings != self._settings:
            self._settings = settings
            self._emit(settings)

    def before_graph(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Keep a graph that a backend is about to compile; Dynamo may discard it later."""
        record = self._records.current
        if record is None:
            return
        output, module = args[0], args[1]
        backend = _backend_name(getattr(output, "compiler_fn", None))
        trace_id = self._internals.compile_context.current_trace_id()
        attempt = getattr(trace_id, "attempt", 0) or 0
        if attempt != record.graphs_attempt:
            _discard_graphs(record)
            record.graphs_attempt = attempt
        record.has_regions = _has_regions(module)
        record.is_in_backend = True
        record.graphs.append(Graph(record.compile_id, record.root(), _count_ops(module), backend))

    def after_graph(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, error: BaseException | None
    ) -> None:
        """Complete the graph; forget it if the backend did not accept it."""
        record = self._records.current
        if record is None or not record.graphs:
            return
        record.is_in_backend = False
        graph = record.graphs.pop()
        if error is not None:
            record.refused_graphs += 1
            return
        ops = _count_ops(args[1])
        # Dynamo inlines compile regions that are used once before it calls the backend.
        given = ops if record.has_regions else graph.ops
        record.graphs.append(msgspec.structs.replace(graph, ops=given, changed_ops=ops - given))

    def before_callbacks_start(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Start the time of a backward graph that is compiled late."""
        if args[1].callback_trigger.name == _LATE_BACKWARD:
            self._backward.started = time.perf_counter()

    def after_callbacks_end(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, ___: BaseException | None
    ) -> None:
        """Emit the time of a backward graph that was compiled late."""
        started = self._backward.started
        if args[1].callback_trigger.name == _LATE_BACKWARD and started is not None:
            self._backward.started = None
            seconds = round(time.perf_counter() - started, 6)
            self._emit(Backward(str(args[1].compile_id), seconds))


class _BackwardTimer(threading.local):
    started: float | None = None


def torch_id(compile_id: str) -> str:
    """Return torch's own id of a compile of the session."""
    return compile_id.partition(_AGAIN)[0]


def _outcome(record: FrameRecord, result: Any, error: BaseException | None) -> CompileOutcome:
    if error is not None:
        return "raised"
    if record.at_limit:
        return "limit"
    if getattr(result, "guarded_code", None) is not None:
        return "compiled"
    # Without a break or an error, Dynamo compiles nothing because the frame computes nothing.
    return "skipped" if record.breaks or record.error else "empty"


def _count_ops(module: Any) -> int:
    return sum(node.op.startswith("call_") for node in module.graph.nodes)


def _has_regions(module: Any) -> bool:
    """Return whether a graph calls a region of `torch.compiler.nested_compile_region`."""
    targets = (node.target for node in module.graph.nodes if node.op == "call_function")
    return any(getattr(target, "__name__", "") == "invoke_subgraph" for target in targets)


def _discard_graphs(record: FrameRecord) -> None:
    """Forget the graphs of an attempt that Dynamo does not use."""
    record.discarded_graphs += len(record.graphs)
    record.graphs.clear()


def _difference(counts: tuple[int, int], others: tuple[int, int]) -> tuple[int, int]:
    return counts[0] - others[0], counts[1] - others[1]


def _sum(counts: tuple[int, int], others: tuple[int, int]) -> tuple[int, int]:
    return counts[0] + others[0], counts[1] + others[1]


def _first_lines(text: str) -> str:
    """Return the first line, and the second if the first ends in a colon."""
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = 2 if lines and lines[0].rstrip().endswith(":") else 1
    return " ".join(lines[:wanted])[:500]


def _plain(value: Any) -> bool | int | float | str | None:
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _backend_name(backend: Any) -> str:
    for name in ("_compiler_name", "compiler_name", "__name__"):
        found = getattr(backend, name, None)
        if isinstance(found, str) and found:
            return found
    return type(backend).__name__
