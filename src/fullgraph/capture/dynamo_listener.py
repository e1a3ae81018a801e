"""Captures what Dynamo does in this process.

Dynamo offers no public way to hear of every break, compile and recompile, so this module wraps a
few of its functions. `HOOKS`, in dynamo_hooks.py, names all of them, with the releases they belong
to; nothing else in fullgraph touches Dynamo's internals. A wrapper only listens: it runs before and
after the original, changes neither arguments nor results, and what goes wrong in it is told as a
`Problem` instead of reaching the program. Nothing runs while compiled code runs.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import msgspec

from fullgraph.capture.dynamo_hooks import HOOKS, READS, SETTINGS, Hook, look_up
from fullgraph.capture.guards import failed_guards, list_entries
from fullgraph.capture.messages import parse_message
from fullgraph.capture.stacks import (
    build_stack,
    describe_code,
    translator_spans,
)
from fullgraph.errors import CaptureError
from fullgraph.installed_torch import OLDEST_TORCH, ids_by_type, release_of
from fullgraph.model.events import (
    Backward,
    Break,
    Code,
    Compile,
    CompileOutcome,
    Event,
    Graph,
    GuardFailure,
    Problem,
    Reason,
    Recompile,
    Resumption,
    Settings,
    Skip,
)

Sink = Callable[[Event], None]


@dataclass
class _FrameRecord:
    """What is known so far about a frame that Dynamo is looking at."""

    # Nothing, where a function is traced without being called: by torch.export, for example.
    frame: Any
    code: Code | None = None
    compile_id: str = ""
    torch_id: str = ""
    under: tuple[Code, ...] = ()
    started: float = 0.0
    seconds: float = 0.0
    nested: bool = False
    guards: int | None = None
    restarts: tuple[str, ...] = ()
    breaks: int = 0
    last_logged: BaseException | None = None
    pending: Break | None = None
    failures: tuple[GuardFailure, ...] = ()
    is_recompile: bool = False
    at_limit: bool = False
    error: str = ""
    counted: tuple[int, int] = (0, 0)
    counted_ops: int | None = None

    def where(self) -> Code:
        if self.code is None:
            self.code = describe_code(self.frame.f_code)
        return self.code


@dataclass
class _ThreadState(threading.local):
    frames: list[_FrameRecord] = field(default_factory=list)
    backward_started: float | None = None


class Capture:
    """Listens to Dynamo and tells whoever has subscribed. There is one for the whole process."""

    def __init__(self) -> None:
        self._sinks: list[Sink] = []
        self._restore: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._local = _ThreadState()
        self._settings: Settings | None = None
        self._problems: set[str] = set()
        # Functions that Dynamo did not try; what they call may still be compiled. By the identity
        # of their code, which is kept with it: code that Dynamo made cannot always be hashed.
        self._skipped: dict[int, tuple[CodeType, Code]] = {}
        self._seen_ids: Counter[str] = Counter()
        self._ids: dict[str, str] | None = None
        self._break_errors: tuple[type[BaseException], ...] = ()
        self._counters: Any = None
        self._metrics: Any = None
        self._context: Any = None
        self._config: Any = None

    def subscribe(self, sink: Sink) -> None:
        with self._lock:
            if not self._sinks:
                self._install()
            self._sinks.append(sink)
            # A newcomer has not heard of these yet.
            self._settings = None
            self._skipped.clear()

    def unsubscribe(self, sink: Sink) -> None:
        with self._lock:
            self._sinks.remove(sink)
            if not self._sinks:
                self._uninstall()

    def after_fork(self) -> None:
        """In a forked child: a lock that another thread of the parent held will not be released."""
        self._lock = threading.RLock()

    # Installing

    def _install(self) -> None:
        self._seen_ids.clear()
        torch = import_module("torch")
        release = release_of(torch.__version__)
        if release < OLDEST_TORCH:
            raise CaptureError(
                f"torch {torch.__version__} is too old: fullgraph needs torch 2.8 or later"
            )
        for module, name in READS:
            look_up(torch.__version__, f"{module}:{name}")
        exc = import_module("torch._dynamo.exc")
        self._break_errors = (exc.Unsupported, exc.UserError, exc.UncapturedHigherOrderOpError)
        utils = import_module("torch._dynamo.utils")
        self._counters, self._metrics = utils.counters, utils.get_compilation_metrics
        self._context = import_module("torch._guards").CompileContext
        self._config = import_module("torch._dynamo").config
        self._torch_folder = Path(str(torch.__file__)).parent
        hooks = [hook for hook in HOOKS if hook.serves(release)]
        # Look all of them up before the first is replaced: all or nothing.
        found = [look_up(torch.__version__, hook.place) for hook in hooks]
        for hook, (owner, name, original) in zip(hooks, found, strict=True):
            setattr(owner, name, self._listening(hook, original))
            self._restore.append(functools.partial(setattr, owner, name, original))

    def _uninstall(self) -> None:
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()

    def _listening(self, hook: Hook, original: Callable[..., Any]) -> Callable[..., Any]:
        before = self._guarded(getattr(self, f"_before_{hook.listener}", None), hook)
        after = self._guarded(getattr(self, f"_after_{hook.listener}", None), hook)

        def listening(*args: Any, **kwargs: Any) -> Any:
            before(args, kwargs)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                after(args, kwargs, None, error)
                raise
            after(args, kwargs, result, None)
            return result

        functools.update_wrapper(listening, original)
        # Dynamo walks the Python stack and stops at its own files; this frame has to pass as one.
        wrapped: Any = original
        code = wrapped.__code__ if isinstance(original, FunctionType) else None
        if code is not None:
            listening.__code__ = listening.__code__.replace(co_filename=code.co_filename)
        return listening

    def _guarded(self, listener: Callable[..., None] | None, hook: Hook) -> Callable[..., None]:
        if listener is None:
            return _do_nothing

        def guarded(*args: Any) -> None:
            try:
                listener(*args)
            except Exception as error:
                self._problem(
                    f"capture failed at {hook.place} ({hook.why}): {type(error).__name__}: {error}"
                )

        return guarded

    # Telling

    def _tell(self, event: Event) -> None:
        with self._lock:
            for sink in tuple(self._sinks):
                sink(event)

    def _problem(self, message: str) -> None:
        if message not in self._problems:
            self._problems.add(message)
            self._tell(Problem(message))

    # Listening. Each method gets the arguments of the function it is named after in HOOKS.

    def _current(self) -> _FrameRecord | None:
        return self._local.frames[-1] if self._local.frames else None

    def _before_frame(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        self._local.frames.append(_FrameRecord(frame=args[1]))

    def _after_frame(
        self, _: tuple[Any, ...], __: dict[str, Any], result: Any, error: BaseException | None
    ) -> None:
        record = self._local.frames.pop()
        self._tell_pending(record, error)
        if record.compile_id:
            self._tell_compile(record, _outcome(record, result, error))
        elif record.pending is None and error is None and _is_compiled_directly():
            self._tell_skip(record.frame.f_code, result)

    def _tell_pending(self, record: _FrameRecord, error: BaseException | None) -> None:
        if record.pending is not None:
            outcome: Resumption = "raised" if error is not None else "skipped"
            self._tell(msgspec.structs.replace(record.pending, outcome=outcome))

    def _tell_skip(self, code: CodeType, result: Any) -> None:
        if id(code) not in self._skipped:
            described = describe_code(code)
            self._skipped[id(code)] = (code, described)
            reason = str(getattr(result, "skip_reason", None) or "")
            self._tell(Skip(described, reason))

    def _tell_compile(self, record: _FrameRecord, outcome: CompileOutcome) -> None:
        self._tell(
            Compile(
                id=record.compile_id,
                code=record.where(),
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
            )
        )

    def _before_compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        record = self._current()
        if record is not None:
            record.code = describe_code(args[0])
            self._begin(record, kwargs["compile_id"])

    def _begin(self, record: _FrameRecord, compile_id: Any) -> None:
        self._tell_settings()
        record.torch_id = str(compile_id)
        record.compile_id = self._unique(record.torch_id)
        record.under = self._skipped_callers()
        record.nested = any(outer.compile_id for outer in self._local.frames[:-1])
        record.counted = self._count()
        record.started = time.perf_counter()

    def _unique(self, identifier: str) -> str:
        """torch._dynamo.reset() starts counting anew; a second 0/0 is another compile."""
        self._seen_ids[identifier] += 1
        seen = self._seen_ids[identifier]
        return identifier if seen == 1 else f"{identifier}~{seen}"

    def _skipped_callers(self) -> tuple[Code, ...]:
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

    def _after_compile(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        record = self._current()
        if record is not None:
            self._finish(record, error)

    def _finish(self, record: _FrameRecord, error: BaseException | None) -> None:
        record.seconds = time.perf_counter() - record.started
        breaks, graphs = self._count()
        record.counted = (breaks - record.counted[0], graphs - record.counted[1])
        metrics = self._metrics()
        if metrics and str(metrics[-1].compile_id) == record.torch_id:
            record.guards = metrics[-1].guard_count
            record.restarts = tuple(sorted(metrics[-1].restart_reasons or ()))
            record.counted_ops = metrics[-1].graph_op_count
        if error is not None and not isinstance(error, self._break_errors):
            record.error = f"{type(error).__name__}: {_first_lines(str(error))}"

    def _before_capture(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        """Within a compile this is a part of it; otherwise somebody traces without calling."""
        current = self._current()
        if current is None or not current.compile_id:
            record = _FrameRecord(frame=None, code=describe_code(args[0]))
            self._local.frames.append(record)
            self._begin(record, self._context.current_compile_id())

    def _after_capture(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        record = self._current()
        if record is None or record.frame is not None:
            return
        self._finish(record, error)
        self._note_break(record, error)
        self._local.frames.pop()
        self._tell_pending(record, error)
        self._tell_compile(record, "compiled" if error is None else "raised")

    def _count(self) -> tuple[int, int]:
        return (
            sum(self._counters["graph_break"].values()),
            self._counters["stats"]["unique_graphs"],
        )

    def _tell_settings(self) -> None:
        values = {name: _plain(getattr(self._config, name, None)) for name in SETTINGS}
        settings = Settings(values)
        if settings != self._settings:
            self._settings = settings
            self._tell(settings)

    def _after_conversion(
        self, _: tuple[Any, ...], __: dict[str, Any], ___: Any, error: BaseException | None
    ) -> None:
        record = self._current()
        if record is None or record.at_limit:
            return
        if not record.compile_id and not _is_compiled_directly():
            # A generator that runs in eager because its caller does. It is nobody's finding.
            return
        self._note_break(record, error)

    def _note_break(self, record: _FrameRecord, error: BaseException | None) -> None:
        """Keep a break that leaves the frame and was not logged on the way."""
        if not isinstance(error, self._break_errors):
            return
        if error is not record.last_logged and not getattr(error, "logged", False):
            record.pending = self._describe_break(record, error, "", "skipped")

    def _before_logged_break(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        record = self._current()
        # From torch 2.11 on the exception is an argument; before, it is the one being handled.
        error: BaseException | None = kwargs.get("exc") or sys.exc_info()[1]
        if record is None or getattr(error, "logged", False):
            return
        reason = str(kwargs.get("reason", ""))
        outcome: Resumption = "resumed"
        if reason.startswith("Encountered graph break that we cannot resume from"):
            outcome = "cut"
        elif reason.startswith("Failed to handle graph break gracefully"):
            outcome = "skipped"
        if error is not None and not hasattr(error, "msg"):
            # Not one of Dynamo's own: something that the program itself is handling.
            error = None
        record.last_logged = error
        self._tell(self._describe_break(record, error, reason, outcome))

    def _describe_break(
        self,
        record: _FrameRecord,
        error: BaseException | None,
        reason: str,
        outcome: Resumption,
    ) -> Break:
        record.breaks += 1
        traced = getattr(error, "real_stack", None)
        if traced is None:
            traced = import_module("torch._guards").TracingContext.extract_stack()
        trace_id = self._context.current_trace_id()
        return Break(
            compile=record.compile_id,
            root=record.where(),
            reasons=self._reasons(error, reason),
            stack=build_stack(list(traced), translator_spans(error)),
            outcome=outcome,
            attempt=getattr(trace_id, "attempt", 0) or 0,
        )

    def _reasons(self, error: BaseException | None, text: str) -> tuple[Reason, ...]:
        parsed = parse_message(str(getattr(error, "msg", "")) or text)
        known = self._registry_ids()
        if parsed[0].type not in known and error is not None:
            name = getattr(error, "gb_type", None) or type(error).__name__
            parsed = (_renamed(parsed[0], name), *parsed[1:])
        reasons = tuple(msgspec.structs.replace(r, id=known.get(r.type)) for r in parsed)
        cause = getattr(error, "__cause__", None)
        if isinstance(cause, self._break_errors):
            # One break that led to another, where the text does not say so: up to torch 2.10, and
            # for errors of the user's that a loop or a context manager turned into a break.
            return (*self._reasons(cause, ""), *reasons)
        return reasons

    def _registry_ids(self) -> dict[str, str]:
        if self._ids is None:
            try:
                self._ids = ids_by_type(self._torch_folder)
            except (OSError, msgspec.DecodeError, LookupError, TypeError) as error:
                self._ids = {}
                self._problem(f"breaks have no id: torch's registry cannot be read ({error})")
        return self._ids

    def _after_recompile(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        error: BaseException | None,
    ) -> None:
        record = self._current()
        if record is None or kwargs.get("skip_logging"):
            return
        record.is_recompile = True
        entries = list_entries(args[0])
        record.failures = failed_guards(entries, args[1].f_locals, list(result or ()))
        if error is not None:
            self._tell_recompile(record, None)

    def _after_limit(
        self, _: tuple[Any, ...], __: dict[str, Any], result: Any, ___: BaseException | None
    ) -> None:
        record = self._current()
        if record is None or result is None:
            return
        exceeded, limit = result
        record.at_limit = bool(exceeded)
        if exceeded or record.is_recompile:
            self._tell_recompile(record, limit if exceeded else None)

    def _tell_recompile(self, record: _FrameRecord, limit: str | None) -> None:
        value = getattr(self._config, limit, None) if limit else None
        self._tell(Recompile(record.compile_id, record.where(), record.failures, limit, value))

    def _before_graph(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        record = self._current()
        if record is None:
            return
        output, module = args[0], args[1]
        ops = sum(node.op.startswith("call_") for node in module.graph.nodes)
        backend = _backend_name(getattr(output, "compiler_fn", None))
        self._tell(Graph(record.compile_id, record.where(), ops, backend))

    def _before_callbacks_start(self, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        if args[1].callback_trigger.name == "LAZY_BACKWARD":
            self._local.backward_started = time.perf_counter()

    def _after_callbacks_end(
        self, args: tuple[Any, ...], _: dict[str, Any], __: Any, ___: BaseException | None
    ) -> None:
        started = self._local.backward_started
        if args[1].callback_trigger.name == "LAZY_BACKWARD" and started is not None:
            self._local.backward_started = None
            seconds = round(time.perf_counter() - started, 6)
            self._tell(Backward(str(args[1].compile_id), seconds))


def _outcome(record: _FrameRecord, result: Any, error: BaseException | None) -> CompileOutcome:
    if record.at_limit:
        return "limit"
    if error is not None:
        return "raised"
    if getattr(result, "guarded_code", None) is not None:
        return "compiled"
    # Without a break or an error, a frame is left alone because it computes nothing.
    return "skipped" if record.breaks or record.error else "empty"


def _is_compiled_directly() -> bool:
    """Whether the frame that Dynamo looks at is the one `torch.compile` was given."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "convert_frame" not in file and file != __file__:
            return "eval_frame" in file
        frame = frame.f_back
    return False


def _do_nothing(*_: Any) -> None:
    pass


def _renamed(reason: Reason, name: str) -> Reason:
    explanation = reason.explanation or reason.type
    return msgspec.structs.replace(reason, type=name, explanation=explanation)


def _first_lines(text: str) -> str:
    """The first line, and the next where the first only announces it: `backend='x' raised:`."""
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


capture = Capture()
