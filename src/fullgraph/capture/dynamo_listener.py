"""Captures what Dynamo does in this process and sends it to subscribers as events.

Dynamo has no public interface for every break, compile and recompile, so this module wraps the
functions in `dynamo_hooks.HOOKS` while there is a subscriber. A wrapper calls a listener before and
after the original. It changes neither arguments nor results, and an exception in a listener becomes
a `Problem` instead of reaching the program. No wrapper runs while compiled code runs.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

from fullgraph.capture.break_listener import BreakListener
from fullgraph.capture.compile_listener import CompileListener
from fullgraph.capture.dynamo_hooks import (
    COMPILE_CALL,
    HOOKS,
    Hook,
    look_up,
    read_internals,
    without_dynamo,
)
from fullgraph.capture.frame_records import FrameRecords, ListenerContext
from fullgraph.capture.guard_listener import GuardListener
from fullgraph.capture.module_listener import ModuleListener
from fullgraph.capture.recompile_listener import RecompileListener
from fullgraph.capture.size_listener import SizeListener
from fullgraph.capture.stance_listener import StanceListener
from fullgraph.errors import CaptureError
from fullgraph.installed_torch import OLDEST_TORCH, release_of
from fullgraph.model.events import Event, Problem

Subscriber = Callable[[Event], None]


class Capture:
    """Listens to Dynamo while there are subscribers. There is one instance per process."""

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []
        self._restore: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._problems: set[str] = set()
        # The measures that listeners take part in, such as "guards".
        self.measured: set[str] = set()
        self._records = FrameRecords()
        # Listeners that emit some facts only once per subscriber.
        self._repeating: tuple[CompileListener | ModuleListener | StanceListener, ...] = ()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` with every event from now on."""
        with self._lock:
            if not self._subscribers:
                self._install()
            self._subscribers.append(subscriber)
            for listener in self._repeating:
                listener.repeat_for_new_subscriber()

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Stop calling `subscriber`; after the last one, Dynamo is as it was before."""
        with self._lock:
            self._subscribers.remove(subscriber)
            if not self._subscribers:
                self._uninstall()

    def after_fork(self) -> None:
        """Replace the lock in a forked child: a thread of the parent may have held it."""
        self._lock = threading.RLock()

    def current_compile(self) -> str:
        """Return the id of the compile that this thread is in; an empty string outside of one."""
        record = self._records.current
        return "" if record is None else record.compile_id

    def run_safely(self, function: Callable[..., None], *args: Any) -> None:
        """Call a function that observes the program; an exception becomes a problem."""
        try:
            function(*args)
        except Exception as error:
            self._report_problem(f"measuring failed: {type(error).__name__}: {error}")

    def _install(self) -> None:
        torch = import_module("torch")
        release = release_of(torch.__version__)
        if release < OLDEST_TORCH:
            raise CaptureError(
                f"torch {torch.__version__} is too old; fullgraph needs torch 2.8 or later"
            )
        listeners = self._new_listeners(torch)
        hooks = [hook for hook in HOOKS if hook.serves(release)]
        # All of them are looked up before the first is replaced: all or nothing.
        found = [look_up(torch.__version__, hook.place) for hook in hooks]
        for hook, (owner, name, original) in zip(hooks, found, strict=True):
            setattr(owner, name, self._wrap(hook, original, listeners))
            self._restore.append(functools.partial(setattr, owner, name, original))

    def _new_listeners(self, torch: Any) -> tuple[object, ...]:
        context = ListenerContext(
            emit=self._emit,
            report_problem=self._report_problem,
            internals=read_internals(torch.__version__),
            torch_folder=os.path.dirname(str(torch.__file__)),
            measured=self.measured,
            records=self._records,
        )
        breaks = BreakListener(context)
        modules = ModuleListener(context)
        sizes = SizeListener(context)
        self._repeating = (
            CompileListener(context, breaks, modules, sizes),
            modules,
            StanceListener(context),
        )
        others = RecompileListener(context), GuardListener(context), sizes
        return breaks, *self._repeating, *others

    def _uninstall(self) -> None:
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()

    def _wrap(
        self, hook: Hook, original: Callable[..., Any], listeners: tuple[object, ...]
    ) -> Callable[..., Any]:
        """Return a function that calls the listeners before and after `original`."""
        before = self._guarded(_method(listeners, f"before_{hook.listener}"), hook)
        after = self._guarded(_method(listeners, f"after_{hook.listener}"), hook)

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
        # Dynamo walks the Python stack and stops at its own files; this frame must look like one.
        if isinstance(original, FunctionType):
            filename = original.__code__.co_filename
            listening.__code__ = listening.__code__.replace(co_filename=filename)
        return listening

    def _guarded(self, listener: Callable[..., None] | None, hook: Hook) -> Callable[..., None]:
        """Return a function that turns an exception of the listener into a problem."""
        if listener is None:
            return _do_nothing

        def guarded(*args: Any) -> None:
            try:
                listener(*args)
            except Exception as error:
                self._report_problem(
                    f"capture failed at {hook.place} ({hook.why}): {type(error).__name__}: {error}"
                )

        # The others are called by Dynamo itself, which it does not compile.
        return without_dynamo(guarded) if hook.place == COMPILE_CALL else guarded

    def _emit(self, event: Event) -> None:
        with self._lock:
            for subscriber in tuple(self._subscribers):
                subscriber(event)

    def _report_problem(self, message: str) -> None:
        if message not in self._problems:
            self._problems.add(message)
            self._emit(Problem(message))


def _method(listeners: tuple[object, ...], name: str) -> Callable[..., None] | None:
    """Return the method of the listener that has it; None if none has."""
    return next((getattr(each, name) for each in listeners if hasattr(each, name)), None)


def _do_nothing(*_: Any) -> None:
    pass


capture = Capture()
