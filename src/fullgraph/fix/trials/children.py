"""Starts the process of each part of a trial, and ends those that hang.

A process that uses no CPU time waits for something that never comes, such as a lock that a thread
of its parent holds.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

from fullgraph.fix.model import TrialRequest
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.trials.hanging import HangingWatch
from fullgraph.fix.trials.runner import Part, write_error

# Of `prctl`: the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1


class Children:
    """The running processes of this process, one per part of a trial."""

    def __init__(self) -> None:
        self._children: dict[int, tuple[Part, HangingWatch]] = {}

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
                # A group of its own, so that the compilers that it starts end with it. A confined
                # program stays in its group.
                with suppress(OSError):
                    os.setpgid(0, 0)
                execute_forked(request, recorder, part)
            finally:
                # Without exit handlers: those belong to the parent.
                os._exit(0)
        with suppress(OSError):
            os.setpgid(process, process)
        self._children[process] = part, HangingWatch(process)

    def ended(self) -> Iterator[Part]:
        """Yield the parts whose process has ended, and end those that hang."""
        for process, (part, watch) in list(self._children.items()):
            is_over = has_ended(process)
            why = "" if is_over else watch.why_to_end()
            if why:
                _kill_group(process)
                with suppress(ChildProcessError):
                    os.waitpid(process, 0)
                write_error(part, why)
            if is_over or why:
                del self._children[process]
                yield part

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


def end_with_parent() -> None:
    """Let the kernel end this process when its parent ends, however that happens; Linux only."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
