"""Stop on SIGINT and SIGTERM, but not in the middle of writing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class StopRequested(BaseException):
    """Raised to stop. It is not an Exception, so no handler takes it for a failure."""


class Stopper:
    """Turns SIGINT and SIGTERM into `StopRequested` where stopping is safe."""

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
        """Allow stopping inside the block; an earlier request stops it at once."""
        self._interruptible = True
        try:
            if self._asked.is_set():
                raise StopRequested
            yield
        finally:
            self._interruptible = False

    def wait(self, seconds: float) -> None:
        """Wait for some seconds, or until a signal arrives."""
        with self.interruptible():
            self._asked.wait(seconds)
