"""Starts the process of each part of a trial, and ends those that hang.

A process that uses no CPU time for a while waits for something that never comes, such as a lock
that a thread of its parent holds. How busy the machine is does not matter.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fullgraph.fix.model import TrialRequest
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.trials.runner import Part, write_error

# A process that has used no CPU time for so long is ended.
IDLE_SECONDS = 20.0
# A process that still runs after so long is ended, whatever it does.
FAR_SECONDS = 1800.0
_LOOK_SECONDS = 1.0
_IDLE = f"the trial was ended because it used no CPU time for {IDLE_SECONDS:.0f} s; it hangs"
_FAR = f"the trial was ended after {FAR_SECONDS / 60:.0f} min"
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# Of `prctl`: the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1


class _Child:
    """A process that runs a part of a trial."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.started = time.monotonic()
        self._looked = self.started
        self._active = self.started
        self._used = 0.0

    def why_to_end(self, process: int) -> str:
        """Return why the process has to be ended; empty if it may go on."""
        now = time.monotonic()
        if now - self.started > FAR_SECONDS:
            return _FAR
        if now - self._looked > _LOOK_SECONDS:
            self._looked = now
            used = _cpu_seconds_of_group(process)
            if used is None or used != self._used:
                self._active, self._used = now, used or 0.0
        return _IDLE if now - self._active > IDLE_SECONDS else ""


class Children:
    """The running processes of this process, one per part of a trial."""

    def __init__(self) -> None:
        self._children: dict[int, _Child] = {}

    def __bool__(self) -> bool:
        return bool(self._children)

    def start(self, request: TrialRequest, recorder: CallRecorder, part: Part) -> None:
        """Fork a process that executes a part of a trial and writes its result."""
        from fullgraph.fix.trials.fork import execute_forked

        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        process = os.fork()
        if process == 0:
            try:
                end_with_parent()
                # A group of its own, so that the compilers that it starts end with it.
                os.setpgid(0, 0)
                execute_forked(request, recorder, part)
            finally:
                # Without exit handlers: those belong to the parent.
                os._exit(0)
        with suppress(OSError):
            os.setpgid(process, process)
        self._children[process] = _Child(part)

    def ended(self) -> Iterator[Part]:
        """Yield the parts whose process has ended, and end those that hang."""
        for process, child in list(self._children.items()):
            is_over = has_ended(process)
            why = "" if is_over else child.why_to_end(process)
            if why:
                _kill_group(process)
                os.waitpid(process, 0)
                write_error(child.part, why)
            if is_over or why:
                del self._children[process]
                yield child.part

    def kill(self) -> None:
        """End all processes."""
        for process in self._children:
            _kill_group(process)


def has_ended(process: int) -> bool:
    """Return whether a child of this process has ended."""
    try:
        ended, _ = os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        # A program that ignores SIGCHLD leaves no status of its children.
        return True
    return bool(ended)


def _kill_group(process: int) -> None:
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(process, signal.SIGKILL)


def _cpu_seconds_of_group(group: int) -> float | None:
    """Return the CPU time of all processes of a group; None if that cannot be told."""
    found = None
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name of the program, in parentheses, may contain spaces.
            values = stat.read_text().rpartition(")")[2].split()
            if int(values[2]) == group:
                found = (found or 0.0) + sum(map(int, values[11:15])) / _TICKS_PER_SECOND
    return found


def end_with_parent() -> None:
    """Let the kernel end this process when its parent ends, however that happens; Linux only."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
