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
from dataclasses import dataclass

import msgspec

from fullgraph.capture.compiled_calls import CompiledCall, watcher
from fullgraph.model.events import Call, Event

# Calls of one function that get an event of their own, and the calls that one event can stand for.
SINGLE_CALLS = 1_000
CALLS_PER_EVENT = 10_000


@dataclass(slots=True)
class _Pending:
    """Calls in a row that do the same, and that further calls may join."""

    event: Call
    ran: list[str]
    count: int
    nanoseconds: int

    def is_joined_by(self, call: CompiledCall) -> bool:
        event = self.event
        return (
            not call.compiles
            and call.number == event.number + self.count
            and call.caller is event.caller
            and call.error == event.error
            and [run.compile for run in call.graphs] == self.ran
            and self.count < CALLS_PER_EVENT
        )

    def as_event(self) -> Call:
        seconds = round(self.nanoseconds / 1e9, 7)
        return msgspec.structs.replace(self.event, count=self.count, seconds=seconds)


class CallWriter:
    """Turns calls into events."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        # By the number of the target.
        self._pending: dict[int, _Pending] = {}
        self._lock = threading.Lock()

    def started(self, call: CompiledCall) -> None:
        """Do nothing: a call is an event when it has ended."""

    def ended(self, call: CompiledCall) -> None:
        """Emit a call, or let it join the calls before it."""
        if call.is_backward:
            return
        with self._lock:
            pending = self._pending.get(call.target.number)
            if pending is not None and pending.is_joined_by(call):
                pending.count += 1
                pending.nanoseconds += call.ended - call.started
                return
            if pending is not None:
                self._emit(self._pending.pop(call.target.number).as_event())
            self._start(call)

    def _start(self, call: CompiledCall) -> None:
        event = _event_of(call)
        if call.number <= SINGLE_CALLS or call.compiles:
            self._emit(event)
        else:
            time = call.ended - call.started
            self._pending[event.target] = _Pending(event, list(event.ran), 1, time)

    def flush(self) -> None:
        """Emit what is kept."""
        with self._lock:
            for pending in self._pending.values():
                self._emit(pending.as_event())
            self._pending.clear()

    def after_fork(self) -> None:
        """Forget the calls of the parent, which writes them itself."""
        self._lock = threading.Lock()
        self._pending.clear()
        flush_in_workers(self.flush)


def start(emit: Callable[[Event], None]) -> None:
    """Emit the calls of this process from now on."""
    writer = CallWriter(emit)
    watcher.listen(writer)
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
