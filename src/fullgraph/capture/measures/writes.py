"""The lines that last bound or wrote watched values before calls of compiled functions.

It runs the program in eager mode: Python does not trace lines in compiled code, and Dynamo does not
compile while it does. Writes to attributes of modules are seen by `Module.__setattr__`. For the
rest, functions that store a watched name are traced, and only on the lines that store it,
instruction by instruction. All other functions cost one look-up per call.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable
from importlib import import_module
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import msgspec

from fullgraph.capture.compiled_calls import CallerLines, CompiledCall, watcher
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.stacks import describe_frame
from fullgraph.capture.store_instructions import Store, holder_of, stores_of
from fullgraph.model.events import Event, Frame, Stance, Write
from fullgraph.model.watches import Watch

# Names the file with the values to watch, a list of `Watch` as JSON.
WATCH_VARIABLE = "FULLGRAPH_WATCH"
_EAGER = "force_eager"
# The object that has an attribute, also where a module keeps it in a dictionary.
_ATTRIBUTE = re.compile(r"^(.*?)(?:\.(?:__dict__|_modules|_buffers|_parameters)\['\w+'\]|\.\w+)$")
_DEFAULTS = re.compile(r"^(.*)\.__(?:kw)?defaults__\[.*\]$")
_DEFAULT_NAMES = frozenset({"__defaults__", "__kwdefaults__"})
_MODULE_DICTIONARIES = ("_parameters", "_buffers", "_modules")
_SIMPLE = (int, float, str, bool, bytes, type(None))
_UNKNOWN = object()
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# Lines and instructions that are traced at most, which takes about two seconds.
_MOST_STEPS = 1_000_000

Emit = Callable[[Event], None]


class _Written(NamedTuple):
    frame: Frame
    value: Any
    # The names of the module, for a global.
    names: dict[str, Any] | None = None
    # How many calls of compiled functions had started.
    calls: int = 0


class _Pending(NamedTuple):
    """A store that is about to happen: its line, the object, and the value before."""

    store: Store
    frame: Frame
    holder: Any
    before: Any


class _Plan(NamedTuple):
    """What is traced in a code object: its stores by their offset, their lines, and parameters."""

    stores: dict[int, tuple[Store, ...]]
    lines: frozenset[int]
    arguments: frozenset[str]


class WriteTracer:
    """Keeps the line of the last write of each watched value, and emits it at the watched calls."""

    def __init__(self, watches: list[Watch], emit: Emit) -> None:
        self._emit = emit
        self._by_call: dict[tuple[int, int], list[Watch]] = {}
        for watch in watches:
            for call in watch.calls:
                self._by_call.setdefault(call, []).append(watch)
        self._names = {
            scope: frozenset(watch.name for watch in watches if watch.scope == scope)
            for scope in ("attribute", "global", "cell", "local", "default")
        }
        self._locals = {(w.file, w.function, w.name) for w in watches if w.scope == "local"}
        self._callers = CallerLines()
        # By the id of a code object; None for one that is not traced.
        self._plans: dict[int, tuple[CodeType, _Plan | None]] = {}
        self._described: dict[tuple[int, Store], Frame] = {}
        # A store that is about to happen, by the frame.
        self._pending: dict[int, _Pending] = {}
        self._bound: dict[tuple[int, str], Frame] = {}
        self._globals: dict[tuple[str, str], _Written] = {}
        self._cells: dict[tuple[str, str], _Written] = {}
        self._attributes: dict[tuple[int, str], tuple[Any, _Written]] = {}
        self._calls = 0
        self._first_calls: dict[int, int] = {}
        self._stopped = False
        self._steps = 0

    def start(self) -> None:
        """Run the rest of the program in eager mode, and watch."""
        import_module("torch").compiler.set_stance(_EAGER)
        capture.subscribe(self._note_stance)
        watcher.listen_to_starts(self.before_call)
        if self._names["attribute"]:
            self._watch_modules()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        running: FrameType | None = sys._getframe(1)
        while running is not None:
            plan = self._plan_of(running.f_code)
            if plan is not None:
                running.f_trace = functools.partial(self._step, plan)
            running = running.f_back

    def _note_stance(self, event: Event) -> None:
        if isinstance(event, Stance) and event.stance != _EAGER:
            # The program compiles from here on.
            self._stop()

    def _stop(self) -> None:
        self._stopped = True
        sys.settrace(None)
        threading.settrace(None)

    def _watch_modules(self) -> None:
        module = import_module("torch").nn.Module
        original = module.__setattr__
        names = self._names["attribute"]

        @functools.wraps(original)
        def set_attribute(holder: Any, name: str, value: Any) -> None:
            before = holder.__dict__.get(name, _UNKNOWN) if name in names else value
            original(holder, name, value)
            if _differs(before, value):
                frame = self._callers.find(sys._getframe(1))
                self._note_attribute(holder, name, frame, value)

        module.__setattr__ = set_attribute

    def _note_attribute(self, holder: Any, name: str, frame: Frame | None, value: Any) -> None:
        key = (id(holder), name)
        if frame is None:
            self._attributes.pop(key, None)
            return
        try:
            kept = weakref.ref(holder, lambda _: self._attributes.pop(key, None))
        except TypeError:
            # It stays alive, so that no other object gets its id.
            kept = holder
        self._attributes[key] = (kept, _Written(frame, value, calls=self._calls))

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        """Return the function that traces a new frame; None if nothing is watched in it."""
        known = self._plans.get(id(frame.f_code))
        plan = known[1] if known is not None else self._plan_of(frame.f_code)
        if plan is None:
            return None
        if plan.arguments and not frame.f_code.co_flags & _SUSPENDED:
            self._note_arguments(plan, frame)
        return functools.partial(self._step, plan)

    def _plan_of(self, code: CodeType) -> _Plan | None:
        known = self._plans.get(id(code))
        if known is None:
            known = self._plans[id(code)] = (code, self._plan(code))
        return known[1]

    def _plan(self, code: CodeType) -> _Plan | None:
        if not self._callers.is_users(code.co_filename):
            return None
        local = {name for file, function, name in self._locals if _is(code, file, function)}
        if code.co_flags & _SUSPENDED:
            # Its frame ends and starts again with each value.
            local = set()
        names = frozenset(local).union(*self._names.values())
        if self._names["default"]:
            names |= _DEFAULT_NAMES
        stores = stores_of(code, names)
        wanted = {
            offset: kept
            for offset, each in stores.items()
            if (kept := tuple(store for store in each if self._is_wanted(store, local)))
        }
        cells = self._names["cell"].intersection(code.co_cellvars)
        arguments = (cells | local).intersection(inspect.getargs(code).args)
        if not wanted and not arguments:
            return None
        lines = frozenset(store.line for each in wanted.values() for store in each)
        return _Plan(wanted, lines, frozenset(arguments))

    def _is_wanted(self, store: Store, local: set[str]) -> bool:
        if store.name in local:
            return store.scope != "attribute"
        if store.scope == "attribute":
            names = self._names["attribute"] | self._names["global"]
            return store.name in names or store.name in _DEFAULT_NAMES
        if store.scope == "global" and store.name in self._names["attribute"]:
            # For another file, a global is an attribute of the module.
            return True
        return store.name in self._names[store.scope]

    def _note_arguments(self, plan: _Plan, frame: FrameType) -> None:
        """Note the call that binds the parameters of a new frame."""
        caller = self._callers.find(frame.f_back)
        if caller is None:
            return
        for name in plan.arguments:
            self._bound[id(frame), name] = caller
            if name in frame.f_code.co_cellvars:
                value = frame.f_locals.get(name)
                self._cells[frame.f_code.co_filename, name] = _Written(caller, value)

    def _step(self, plan: _Plan, frame: FrameType, event: str, _: Any) -> Any:
        pending = self._pending.pop(id(frame), None)
        if pending is not None:
            self._finish(frame, pending)
        if event == "line":
            frame.f_trace_opcodes = frame.f_lineno in plan.lines
        elif event == "opcode":
            for store in plan.stores.get(frame.f_lasti, ()):
                self._begin(frame, store)
        elif event == "return":
            for name in (*frame.f_code.co_varnames, *frame.f_code.co_cellvars):
                self._bound.pop((id(frame), name), None)
        self._steps += 1
        if self._steps > _MOST_STEPS:
            self._stop()
        return frame.f_trace

    def _begin(self, frame: FrameType, store: Store) -> None:
        """Note a store that the next instruction makes."""
        at = self._at(frame, store)
        if store.scope != "attribute":
            self._bound[id(frame), store.name] = at
        if store.scope == "global":
            before = frame.f_globals.get(store.name, _UNKNOWN)
            self._pending[id(frame)] = _Pending(store, at, None, before)
        elif store.scope == "cell":
            self._pending[id(frame)] = _Pending(store, at, None, _UNKNOWN)
        elif store.scope == "attribute":
            holder = holder_of(store, frame)
            if holder is not None and not _is_torch_module(holder):
                before = _member(holder, store.name)
                self._pending[id(frame)] = _Pending(store, at, holder, before)

    def _finish(self, frame: FrameType, pending: _Pending) -> None:
        """Note a store that has happened."""
        store, at, holder, before = pending
        file, names = frame.f_code.co_filename, frame.f_globals
        if store.scope == "cell":
            self._cells[file, store.name] = _Written(at, frame.f_locals.get(store.name))
            return
        if store.scope == "attribute" and not isinstance(holder, ModuleType):
            value = _member(holder, store.name)
            if _differs(before, value):
                self._note_attribute(holder, store.name, at, value)
            return
        if isinstance(holder, ModuleType):
            file, names = getattr(holder, "__file__", None) or "", holder.__dict__
        value = names.get(store.name)
        if _differs(before, value):
            self._globals[file, store.name] = _Written(at, value, names)

    def _at(self, frame: FrameType, store: Store) -> Frame:
        # Plans keep the code object, so that its id stays its own.
        key = (id(frame.f_code), store)
        if key not in self._described:
            described = describe_frame(frame)
            if described.line != store.line:
                text = linecache.getline(described.file, store.line).strip()
                described = Frame(described.file, store.line, described.function, code=text)
            self._described[key] = described
        return self._described[key]

    def before_call(self, call: CompiledCall, wrapper: FrameType) -> None:
        """Emit the lines that are wanted at a call that starts."""
        self._calls += 1
        first = self._first_calls.setdefault(call.target.number, self._calls)
        watches = self._by_call.get((call.target.number, call.number), ())
        if self._stopped or sys.gettrace() != self.trace:
            return
        for watch in watches:
            found = self._look_up(watch, wrapper, first)
            if found is not None:
                event = Write(call.target.number, call.number, watch.source, found, call.caller)
                self._emit(event)

    def _look_up(self, watch: Watch, wrapper: FrameType, first: int) -> Frame | None:
        match watch.scope:
            case "local":
                return self._bound_in_caller(watch, wrapper)
            case "global":
                return self._written_global(watch.file, watch.name)
            case "cell":
                return self._written_cell(watch, wrapper)
            case "attribute":
                return self._written_attribute(watch, wrapper, first)
            case "default":
                return self._written_default(watch, wrapper)
        return None

    def _bound_in_caller(self, watch: Watch, wrapper: FrameType) -> Frame | None:
        frame = wrapper.f_back
        while frame is not None and not _is(frame.f_code, watch.file, watch.function):
            frame = frame.f_back
        if frame is None:
            return None
        return self._bound.get((id(frame), watch.name))

    def _written_global(self, file: str, name: str) -> Frame | None:
        written = self._globals.get((file, name))
        if written is None or written.names is None:
            return None
        # Something else may have written it since.
        return written.frame if written.names.get(name) is written.value else None

    def _written_cell(self, watch: Watch, wrapper: FrameType) -> Frame | None:
        written = self._cells.get((watch.file, watch.name))
        function = _target(wrapper)
        if written is None or not isinstance(function, FunctionType):
            return None
        value = _cells_of(function).get(watch.name, _UNKNOWN)
        return written.frame if value is written.value else None

    def _written_attribute(self, watch: Watch, wrapper: FrameType, first: int) -> Frame | None:
        if watch.holder:
            return self._written_for_class(watch)
        match = _ATTRIBUTE.match(watch.source)
        holder = _UNKNOWN if match is None else _evaluate(match[1], wrapper)
        if isinstance(holder, ModuleType):
            return self._written_global(getattr(holder, "__file__", None) or "", watch.name)
        kept = self._attributes.get((id(holder), watch.name))
        if kept is None or (watch.after_first_call and kept[1].calls < first):
            return None
        return kept[1].frame if _is_current(holder, watch.name, kept[1]) else None

    def _written_default(self, watch: Watch, wrapper: FrameType) -> Frame | None:
        match = _DEFAULTS.match(watch.source)
        function = _target(wrapper) if match is None else _evaluate(match[1], wrapper)
        found = [self._attributes.get((id(function), name)) for name in _DEFAULT_NAMES]
        frames = {kept[1].frame for kept in found if kept is not None}
        if not frames and isinstance(function, FunctionType):
            return _definition(function.__code__)
        return frames.pop() if len(frames) == 1 else None

    def _written_for_class(self, watch: Watch) -> Frame | None:
        """Return the line that last wrote the attribute of every object of a class, if it is one.

        Which of the objects a call uses is not known.
        """
        found = {
            written.frame if _is_current(_holder(kept), name, written) else None
            for (_, name), (kept, written) in list(self._attributes.items())
            if name == watch.name and type(_holder(kept)).__qualname__ == watch.holder
        }
        return found.pop() if len(found) == 1 else None


def start(emit: Emit) -> None:
    """Watch what the file that the environment names lists."""
    path = os.environ.get(WATCH_VARIABLE, "")
    with open(path, "rb") as file:
        watches = msgspec.json.decode(file.read(), type=list[Watch])
    WriteTracer(watches, emit).start()


def _is(code: CodeType, file: str, function: str) -> bool:
    return code.co_name == function and code.co_filename == file


def _differs(before: Any, now: Any) -> bool:
    if before is now:
        return False
    if type(before) is type(now) and isinstance(now, _SIMPLE):
        return bool(before != now)
    return True


def _evaluate(source: str, wrapper: FrameType) -> Any:
    """Return the value of one of Dynamo's expressions when the function is called."""
    scope = _scope_of(wrapper)
    if scope is None:
        return _UNKNOWN
    try:
        return eval(source, {"__builtins__": {}}, scope)
    except Exception:
        return _UNKNOWN


def _member(holder: Any, name: str) -> Any:
    if isinstance(holder, FunctionType):
        return getattr(holder, name, _UNKNOWN)
    return getattr(holder, "__dict__", {}).get(name, _UNKNOWN)


def _definition(code: CodeType) -> Frame | None:
    """Return the line that defined a function; None if that is done only once."""
    if "<locals>" not in code.co_qualname:
        return None
    outer = code.co_qualname.split(".<locals>")[-2].rpartition(".")[2]
    text = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return Frame(code.co_filename, code.co_firstlineno, outer, code=text)


def _holder(kept: Any) -> Any:
    return kept() if isinstance(kept, weakref.ref) else kept


def _is_current(holder: Any, name: str, written: _Written) -> bool:
    """Return whether an attribute has the value that was written, and not one written unseen.

    `holder.__dict__[name] = value` passes neither `__setattr__` nor a store of the name.
    """
    names = getattr(holder, "__dict__", {})
    kept_in = (names.get(each) for each in _MODULE_DICTIONARIES)
    members = [_member(holder, name), *(each[name] for each in kept_in if each and name in each)]
    return any(not _differs(written.value, each) for each in members)


def _is_torch_module(holder: Any) -> bool:
    return isinstance(holder, import_module("torch").nn.Module)


def _target(wrapper: FrameType) -> Any:
    """Return the function that torch calls: that of the user, without what torch wraps around."""
    function = wrapper.f_locals.get("fn")
    if isinstance(function, MethodType):
        owner = function.__self__
        is_call = function.__name__ in ("_call_impl", "_wrapped_call_impl")
        function = owner.forward if is_call and hasattr(owner, "forward") else function
    return function


def _scope_of(wrapper: FrameType) -> dict[str, Any] | None:
    """Return the locals and globals of the compiled function, under Dynamo's names for them."""
    function = _target(wrapper)
    arguments, keywords = wrapper.f_locals.get("args", ()), wrapper.f_locals.get("kwargs", {})
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType):
        return None
    owner = (function.__self__,) if isinstance(function, MethodType) else ()
    try:
        signature = inspect.signature(plain, follow_wrapped=False)
        given = signature.bind(*owner, *arguments, **keywords)
    except (TypeError, ValueError):
        return None
    given.apply_defaults()
    return {"L": {**_cells_of(plain), **given.arguments}, "G": plain.__globals__}


def _cells_of(function: FunctionType) -> dict[str, Any]:
    """Return the values of the closure cells of a function; one may be empty."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found
