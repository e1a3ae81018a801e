"""Watches the calls of compiled functions from outside of compiled code, and the graphs they run.

torch calls the `enter_exit_hooks` of a compiled function before and after each call, outside of
anything that Dynamo traces, so that the function itself stays as it is. The backend's compiled
function of each graph is wrapped, to note which graphs ran and when. Nothing is installed unless a
measure asks for it, because both cost about a microsecond per call.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter_ns
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple, Protocol

from fullgraph.capture.dynamo_hooks import (
    COMPILE_CALL,
    RUN_BACKWARD,
    RUN_BACKWARD_GRAPH,
    USER_COMPILER,
    look_up,
    without_dynamo,
)
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.stacks import describe_code, describe_frame
from fullgraph.model.events import Code, Compile, Event, Frame
from fullgraph.model.owners import (
    PYTHON,
    TORCH,
    YOURS,
    Owners,
    folders_of_this_process,
    is_generated,
)

# The owner of files whose lines a user cannot edit.
_HIDDEN = "hidden"


class GraphRun(NamedTuple):
    """One run of a graph; times in nanoseconds."""

    compile: str
    started: int
    ended: int


@dataclass(eq=False)
class Target:
    """What one call of `torch.compile` compiles, numbered from 1, and the numbers of its calls."""

    number: int
    code: Code
    calls: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    backwards: Iterator[int] = field(default_factory=lambda: itertools.count(1))


class GraphObserver(Protocol):
    """Looks at the program when a graph starts and ends, in a call that is not timed."""

    def before_graph(self, call: CompiledCall, compile_id: str) -> None:
        """Note what is running when a graph starts."""

    def after_graph(self) -> None:
        """Note that the graph ended."""

    def stop(self) -> None:
        """Stop looking: the call has ended."""


@dataclass(slots=True)
class CompiledCall:
    """One call of a compiled function from outside of compiled code, or its backward."""

    target: Target
    number: int
    caller: Frame | None
    # The Python frame that torch calls the function from, to recognize calls inside of this one.
    frame: int
    handled: BaseException | None
    started: int = 0
    ended: int = 0
    graphs: list[GraphRun] = field(default_factory=list)
    compiles: list[str] = field(default_factory=list)
    error: str = ""
    is_backward: bool = False
    # Graphs inside of a graph belong to it.
    inside_graph: bool = False
    observer: GraphObserver | None = None


class CallListener(Protocol):
    """Is told about calls; exceptions become problems of the report."""

    def started(self, call: CompiledCall) -> None:
        """Prepare for a call; its time does not run yet."""

    def ended(self, call: CompiledCall) -> None:
        """Use a call that has ended, by an exception or not."""


class _Running(threading.local):
    call: CompiledCall | None = None
    # The target of the newest call, to which a backward belongs.
    newest: Target | None = None


class CallWatcher:
    """Tells its listeners about each call when it has ended. There is one instance per process."""

    def __init__(self) -> None:
        self._is_installed = False
        self._listeners: list[CallListener] = []
        self._start_listeners: list[Callable[[CompiledCall, FrameType], None]] = []
        # The backward that runs, for the engine's threads.
        self._backward: CompiledCall | None = None
        self._running = _Running()
        self._numbers = itertools.count(1)
        # By the context of torch that has the hooks.
        self._targets: weakref.WeakKeyDictionary[Any, Target] = weakref.WeakKeyDictionary()
        self._callers = CallerLines()

    def listen_to_starts(self, listener: Callable[[CompiledCall, FrameType], None]) -> None:
        """Call `listener` with every call that starts from now on, and torch's frame of it."""
        self._install()
        self._start_listeners.append(listener)

    def listen(self, listener: CallListener) -> None:
        """Tell `listener` about every call of a compiled function from now on."""
        self._install()
        self._listeners.append(listener)

    def _install(self) -> None:
        if self._is_installed:
            return
        self._is_installed = True
        version = str(import_module("torch").__version__)
        watch_safely = functools.partial(capture.run_safely, self._watch_target)
        watch_target = without_dynamo(watch_safely)
        self._replace(version, COMPILE_CALL, functools.partial(_watching_targets, watch_target))
        self._replace(version, USER_COMPILER, self._watching_graphs)
        capture.subscribe(self._note_compile)

    def watch_backward(self) -> None:
        """Also tell the listeners about backward passes after calls of compiled functions."""
        version = str(import_module("torch").__version__)
        self._replace(version, RUN_BACKWARD, self._watching_backward)
        self._replace(version, RUN_BACKWARD_GRAPH, self._watching_backward_graphs)

    def _replace(self, version: str, place: str, wrap: Callable[[Any], Any]) -> None:
        owner, name, original = look_up(version, place)
        setattr(owner, name, in_the_file_of(original, wrap(original)))

    def _watch_target(self, context: Any, function: Any) -> None:
        """Watch the calls of a function; torch hands over a module and then its method."""
        module = import_module("torch").nn.Module
        if isinstance(function, type | module) or not callable(context.callback):
            return
        if context not in self._targets:
            self._targets[context] = Target(next(self._numbers), code_of(function))
            context.enter_exit_hooks.append(_EnterHook(self, self._targets[context]))

    def enter(self, target: Target) -> Callable[[], None]:
        """Start a call and return the function that ends it; do nothing inside of another call."""
        # The frame of torch that calls the hook.
        frame = sys._getframe(2)
        outer = self._running.call
        # torch does not end a call that raises because nothing was compiled.
        if outer is not None:
            if _is_running(outer.frame, frame):
                return _do_nothing
            if outer.observer is not None:
                capture.run_safely(outer.observer.stop)
        call = CompiledCall(
            target=target,
            number=next(target.calls),
            caller=self._callers.find(frame),
            frame=id(_caller_of_hooks(frame)),
            handled=sys.exc_info()[1],
        )
        self._running.newest = target
        for listener in self._start_listeners:
            capture.run_safely(listener, call, _caller_of_hooks(frame))
        self._start(call)
        return self._exit

    def _start(self, call: CompiledCall) -> None:
        for listener in self._listeners:
            capture.run_safely(listener.started, call)
        self._running.call = call
        call.started = perf_counter_ns()

    def _exit(self) -> None:
        ended = perf_counter_ns()
        call = self._running.call
        self._running.call = None
        if call is None:
            return
        call.ended = ended
        error = sys.exc_info()[1]
        if error is not None and error is not call.handled:
            call.error = type(error).__name__
        call.handled = None
        for listener in self._listeners:
            capture.run_safely(listener.ended, call)

    def _watching_backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run_backward(*args: Any, **kwargs: Any) -> Any:
            target = self._running.newest
            if target is None or self._running.call is not None:
                return original(*args, **kwargs)
            handled = sys.exc_info()[1]
            number = next(target.backwards)
            call = CompiledCall(target, number, None, 0, handled, is_backward=True)
            self._start(call)
            self._backward = call
            try:
                return original(*args, **kwargs)
            finally:
                self._backward = None
                self._exit()

        return run_backward

    def _watching_backward_graphs(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call_graph(*args: Any, **kwargs: Any) -> Any:
            call = self._running.call or self._backward
            # Forward graphs are watched where Dynamo calls them.
            if call is None or not call.is_backward:
                return original(*args, **kwargs)
            return _timed(call, "", original, args, kwargs)

        return call_graph

    def _watching_graphs(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_graph(output: Any, *args: Any, **kwargs: Any) -> Any:
            compiled = original(output, *args, **kwargs)
            # A graph that is saved for another process, or exported, is not only called.
            is_kept = output.export or getattr(output, "package", None) is not None
            compile_id = capture.current_compile()
            if is_kept or not compile_id:
                return compiled
            return self._watched_graph(_forced(compiled), compile_id, original)

        return compile_graph

    def _watched_graph(
        self, compiled: Callable[..., Any], compile_id: str, original: Callable[..., Any]
    ) -> Callable[..., Any]:
        running = self._running

        def run_graph(*args: Any, **kwargs: Any) -> Any:
            call = running.call or self._backward
            if call is None:
                return compiled(*args, **kwargs)
            return _timed(call, compile_id, compiled, args, kwargs)

        return in_the_file_of(original, run_graph)

    def _note_compile(self, event: Event) -> None:
        call = self._running.call
        if isinstance(event, Compile) and call is not None:
            call.compiles.append(event.id)


def _watching_targets(
    watch: Callable[..., None], original: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_function(context: Any, function: Any) -> Any:
        watch(context, function)
        return original(context, function)

    return compile_function


def _timed(
    call: CompiledCall,
    compile_id: str,
    graph: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run a graph and add its time to the call."""
    if call.inside_graph:
        return graph(*args, **kwargs)
    call.inside_graph = True
    if call.observer is not None:
        capture.run_safely(call.observer.before_graph, call, compile_id)
    started = perf_counter_ns()
    try:
        return graph(*args, **kwargs)
    finally:
        call.graphs.append(GraphRun(compile_id, started, perf_counter_ns()))
        if call.observer is not None:
            capture.run_safely(call.observer.after_graph)
        call.inside_graph = False


class _EnterHook:
    """Starts a call. A copy or a pickle of a compiled module gets a hook that does nothing."""

    __slots__ = ("_target", "_watcher")

    def __init__(self, watcher: CallWatcher, target: Target) -> None:
        self._watcher = watcher
        self._target = target

    def __call__(self) -> Callable[[], None]:
        return self._watcher.enter(self._target)

    def __reduce__(self) -> tuple[Any, ...]:
        # It can be loaded where fullgraph is not installed: a hook whose result is callable.
        return functools.partial, (functools.partial, dict)


class CallerLines:
    """Finds the user's line that calls a compiled function, and describes each line once."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        # The code object is kept, so that its id stays its own.
        self._known: dict[tuple[int, int], tuple[CodeType, Frame]] = {}

    def find(self, frame: FrameType | None) -> Frame | None:
        """Return the innermost line of the user, or of a library if there is none; else None."""
        owners = self._owners
        library: FrameType | None = None
        while frame is not None:
            file = frame.f_code.co_filename
            owner = owners.get(file) or self._look_up(file)
            if owner == YOURS:
                return self._describe(frame)
            if library is None and owner != _HIDDEN:
                library = frame
            frame = frame.f_back
        return None if library is None else self._describe(library)

    def is_users(self, file: str) -> bool:
        """Return whether a file is the user's own."""
        return (self._owners.get(file) or self._look_up(file)) == YOURS

    def _look_up(self, file: str) -> str:
        owner = Owners([folders_of_this_process()]).owner_of(file)
        hidden = owner in (TORCH, PYTHON) or is_generated(file)
        self._owners[file] = _HIDDEN if hidden else owner
        return self._owners[file]

    def _describe(self, frame: FrameType) -> Frame:
        key = (id(frame.f_code), frame.f_lasti)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (frame.f_code, describe_frame(frame))
        return known[1]


def in_the_file_of(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with the file of `original`, for those that look at Python's stack.

    Dynamo treats frames of its own files specially, and torch hides them in tracebacks.
    """
    code: CodeType = function.__code__
    function.__code__ = code.replace(co_filename=original.__code__.co_filename)
    return function


def _is_running(wanted: int, frame: FrameType | None) -> bool:
    """Return whether a frame is on the stack."""
    while frame is not None:
        if id(frame) == wanted:
            return True
        frame = frame.f_back
    return False


def _caller_of_hooks(frame: FrameType) -> FrameType:
    """Return the frame that calls the hooks; up to Python 3.11 a comprehension has its own."""
    back = frame.f_back
    return back if frame.f_code.co_name == "<listcomp>" and back is not None else frame


def _forced(compiled: Any) -> Any:
    """Return the compiled function, generated now if torch would generate it with its first call.

    torch does the same, but it recognizes such a function only without a wrapper.
    """
    owner = getattr(compiled, "__self__", compiled)
    if not hasattr(owner, "real_recompile"):
        return compiled
    owner.real_recompile()
    return compiled if owner is compiled else owner.forward


def code_of(function: Any) -> Code:
    """Return the function that Dynamo will compile, under its own name if it has no code."""
    while True:
        if isinstance(function, MethodType):
            owner = function.__self__
            forward = getattr(owner, "forward", None)
            is_call = function.__name__ in ("_call_impl", "_wrapped_call_impl")
            function = forward if is_call and forward is not None else function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType):
            return describe_code(function.__code__)
        elif hasattr(function, "forward"):
            function = function.forward
        elif callable(function) and isinstance(type(function).__call__, FunctionType):
            function = type(function).__call__
        else:
            name = getattr(function, "__name__", type(function).__name__)
            return Code("", 0, name)


def _do_nothing() -> None:
    pass


watcher = CallWatcher()
