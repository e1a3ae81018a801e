"""Capture in a process that `fullgraph run` started, and in its child processes."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
from pathlib import Path

from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.header import describe_process
from fullgraph.capture.measures import start_measures
from fullgraph.errors import CaptureError
from fullgraph.model.events import End, Event, Problem
from fullgraph.model.session import SUFFIX, LineEncoder

_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class SessionFile:
    """The session file of this process, created with the first event."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self._encoder = LineEncoder()
        self._file = -1
        self._path = self._folder
        self._identity: tuple[int, int] | None = None
        self._broken = False
        self._ended = False
        self._started = time.perf_counter()

    def write(self, event: Event) -> None:
        """Write an event with one system call; an error stops capturing, not the program."""
        if self._broken:
            return
        try:
            if self._file < 0:
                self._open(event)
            else:
                self._recover()
                _write_all(self._file, self._encoder.event(event))
        except Exception as error:
            # No exception may reach the program.
            self._broken = True
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        with contextlib.suppress(Exception):
            sys.stderr.write(
                f"fullgraph: capturing stopped; the session cannot be written: {error}\n"
            )

    def _open(self, event: Event) -> None:
        self._path = self._folder / f"{time.time_ns():020d}-{os.getpid()}{SUFFIX}"
        self._file = os.open(self._path, _APPEND | os.O_CREAT, 0o644)
        self._identity = _identity(self._file)
        # One write: a file with an incomplete header could not be read.
        header = self._encoder.header(describe_process())
        _write_all(self._file, header + self._encoder.event(event))
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            # A forked worker ends without exit handlers, but it runs finalizers.
            util.Finalize(None, self.end, exitpriority=-1000)

    def _recover(self) -> None:
        """Open the file again if the program closed its descriptor or uses it for another file."""
        if _identity(self._file) != self._identity:
            self._file = os.open(self._path, _APPEND)

    def after_fork(self) -> None:
        """Close the file of the parent in a forked child, which creates a file of its own."""
        if self._file >= 0 and _identity(self._file) == self._identity:
            os.close(self._file)
        self._start()

    def end(self) -> None:
        """Write that the process ended by itself."""
        if self._file >= 0 and not self._ended:
            self._ended = True
            self.write(End(round(time.perf_counter() - self._started, 6)))


def start(folder: str) -> None:
    """Write the events of this process to `folder`; called when Dynamo has been imported."""
    file = SessionFile(Path(folder))
    atexit.register(file.end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=capture.after_fork)
        os.register_at_fork(after_in_child=file.after_fork)
    try:
        capture.subscribe(file.write)
        start_measures(file.write)
    except CaptureError as error:
        file.write(Problem(str(error), fatal=True))


def _identity(file: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
