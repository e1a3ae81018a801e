"""Ending when a person or a supervisor says so, but not halfway through writing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class StopRequested(BaseException):
    """Not an Exception: nothing on the way may take it for a failure."""


class Stopper:
    """Turns SIGINT and SIGTERM into `StopRequested` where that is harmless."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._interruptible = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        self._asked.set()
        if self._interruptible:
            raise StopRequested

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Waiting, and asking others, ends at once; what was asked for before ends it as well."""
        self._interruptible = True
        try:
            if self._asked.is_set():
                raise StopRequested
            yield
        finally:
            self._interruptible = False

    def wait(self, seconds: float) -> None:
        with self.interruptible():
            self._asked.wait(seconds)
