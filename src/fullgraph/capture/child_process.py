"""Capturing in a process that `fullgraph run` started, or that such a process started."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
from pathlib import Path

from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.header import describe_process
from fullgraph.errors import CaptureError
from fullgraph.model.events import End, Event, Problem
from fullgraph.model.session import SUFFIX, LineEncoder

_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class SessionFile:
    """One process's session. The file appears with the first event, each in one system call."""

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
        if self._broken:
            return
        try:
            if self._file < 0:
                self._open(event)
            else:
                self._recover()
                _write_all(self._file, self._encoder.event(event))
        except Exception as error:
            # Whatever it is, it must not reach the program.
            self._broken = True
            self._complain(error)

    def _complain(self, error: Exception) -> None:
        with contextlib.suppress(Exception):
            sys.stderr.write(f"fullgraph: capturing stopped, no session can be written: {error}\n")

    def _open(self, event: Event) -> None:
        self._path = self._folder / f"{time.time_ns():020d}-{os.getpid()}{SUFFIX}"
        self._file = os.open(self._path, _APPEND | os.O_CREAT, 0o644)
        self._identity = _identity(self._file)
        # In one piece: a file without a whole header could not be read.
        header = self._encoder.header(describe_process())
        _write_all(self._file, header + self._encoder.event(event))
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            # A forked worker leaves without running exit handlers, but it does run finalizers.
            util.Finalize(None, self.end, exitpriority=-1000)

    def _recover(self) -> None:
        """A program may close all descriptors, and a file of its own then gets this number."""
        if _identity(self._file) != self._identity:
            self._file = os.open(self._path, _APPEND)

    def after_fork(self) -> None:
        """The parent's file stays the parent's; the child gets its own when it has something."""
        if self._file >= 0 and _identity(self._file) == self._identity:
            os.close(self._file)
        self._start()

    def end(self) -> None:
        if self._file >= 0 and not self._ended:
            self._ended = True
            self.write(End(round(time.perf_counter() - self._started, 6)))


def start(folder: str) -> None:
    """Called when torch._dynamo has been imported."""
    file = SessionFile(Path(folder))
    atexit.register(file.end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=capture.after_fork)
        os.register_at_fork(after_in_child=file.after_fork)
    try:
        capture.subscribe(file.write)
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
