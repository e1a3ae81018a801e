"""The calls of compiled functions, one event per call.

A program may call a compiled function millions of times. After the first calls, calls in a row
that do the same become one event.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable

import msgspec

from fullgraph.capture.compiled_calls import CompiledCall, watcher
from fullgraph.model.events import Call, Event

# Calls of one function that get an event of their own, and the calls that one event can stand for.
SINGLE_CALLS = 1_000
CALLS_PER_EVENT = 10_000


class CallWriter:
    """Turns calls into events."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        # By target; an event that more calls may join.
        self._pending: dict[int, Call] = {}
        self._lock = threading.Lock()

    def add(self, call: CompiledCall) -> None:
        """Emit a call, or let it join the calls before it."""
        event = _event_of(call)
        with self._lock:
            pending = self._pending.pop(event.target, None)
            if pending is not None and _is_alike(pending, event):
                event = _joined(pending, event)
            elif pending is not None:
                self._emit(pending)
            if event.number <= SINGLE_CALLS or event.compiles or event.count >= CALLS_PER_EVENT:
                self._emit(event)
            else:
                self._pending[event.target] = event

    def flush(self) -> None:
        """Emit what is kept."""
        with self._lock:
            for event in self._pending.values():
                self._emit(event)
            self._pending.clear()

    def after_fork(self) -> None:
        """Forget the calls of the parent, which writes them itself."""
        self._lock = threading.Lock()
        self._pending.clear()
        flush_in_workers(self.flush)


def start(emit: Callable[[Event], None]) -> None:
    """Emit the calls of this process from now on."""
    writer = CallWriter(emit)
    watcher.listen(writer.add)
    atexit.register(writer.flush)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=writer.after_fork)


def flush_in_workers(flush: Callable[[], None]) -> None:
    """Call `flush` when a forked worker ends: it runs finalizers, but no exit handlers."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        # The session file is ended with priority -1000.
        util.Finalize(None, flush, exitpriority=-999)


def _event_of(call: CompiledCall) -> Call:
    return Call(
        target=call.target.number,
        number=call.number,
        code=call.target.code,
        seconds=round((call.ended - call.started) / 1e9, 7),
        compiles=tuple(call.compiles),
        ran=tuple([run.compile for run in call.graphs]),
        caller=call.caller,
        error=call.error,
    )


def _is_alike(pending: Call, event: Call) -> bool:
    return (
        not event.compiles
        and pending.ran == event.ran
        and pending.error == event.error
        and pending.caller is event.caller
        and pending.number + pending.count == event.number
    )


def _joined(pending: Call, event: Call) -> Call:
    return msgspec.structs.replace(
        pending,
        count=pending.count + event.count,
        seconds=round(pending.seconds + event.seconds, 7),
    )
