"""Capturing in a process that `fullgraph run` started, or that such a process started."""

from __future__ import annotations

import atexit
import os
import sys
import time
from pathlib import Path

from fullgraph.capture.header import describe_process
from fullgraph.capture.live import capture
from fullgraph.capture.store import CAPTURE_VARIABLE
from fullgraph.errors import CaptureError
from fullgraph.model.events import End, Event, Problem
from fullgraph.model.session import SUFFIX, LineEncoder


class SessionFile:
    """One process's session. The file appears with the first event, each in one system call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self._encoder = LineEncoder()
        self._file = -1
        self._broken = False
        self._ended = False
        self._started = time.perf_counter()

    def write(self, event: Event) -> None:
        if self._broken:
            return
        try:
            if self._file < 0:
                self._open()
            _write_all(self._file, self._encoder.event(event))
        except OSError as error:
            self._broken = True
            sys.stderr.write(
                f"fullgraph: capturing stopped, the session cannot be written: {error}\n"
            )

    def _open(self) -> None:
        name = f"{time.time_ns():020d}-{os.getpid()}{SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._file = os.open(self._folder / name, flags, 0o644)
        _write_all(self._file, self._encoder.header(describe_process()))
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            # A forked worker leaves without running exit handlers, but it does run finalizers.
            util.Finalize(None, self.end, exitpriority=-1000)

    def after_fork(self) -> None:
        """The parent's file stays the parent's; the child gets its own when it has something."""
        if self._file >= 0:
            os.close(self._file)
        self._start()

    def end(self) -> None:
        if self._file >= 0 and not self._ended:
            self._ended = True
            self.write(End(round(time.perf_counter() - self._started, 6)))


def start() -> None:
    """Called when torch._dynamo has been imported."""
    file = SessionFile(Path(os.environ[CAPTURE_VARIABLE]))
    atexit.register(file.end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=capture.after_fork)
        os.register_at_fork(after_in_child=file.after_fork)
    try:
        capture.subscribe(file.write)
    except CaptureError as error:
        file.write(Problem(str(error), fatal=True))


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
