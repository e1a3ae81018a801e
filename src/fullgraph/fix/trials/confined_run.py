"""Runs code that somebody else wrote in a confined child of this process, and takes its files.

This process never runs that code itself. What the child leaves are files of plain values; a link, a
pipe or a file that is too large is an error.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from fullgraph.fix.confinement import Confinement, confine
from fullgraph.fix.confinement.process import close_files
from fullgraph.fix.confinement.system_calls import process_control
from fullgraph.fix.model import FixError
from fullgraph.fix.trials.children import end_with_parent
from fullgraph.outcomes.files import Outcomes, load_outcomes

_ERROR_FILE = "error.txt"
_LONGEST_ERROR = 2000
_MEGABYTE = 1 << 20
_TICK = 0.01
_LOOK_SECONDS = 0.5
_SET_CHILD_SUBREAPER = 36


class ConfinedError(FixError):
    """Confined code has not done what it was to do: it was ended, or has ended its process."""


class ConfinedRun:
    """`with ConfinedRun(confinement) as run:` gives a child a folder, and takes files from it."""

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement

    def __enter__(self) -> ConfinedRun:
        self.scratch = Path(tempfile.mkdtemp(prefix="fullgraph-scratch-"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def finish(self, work: Callable[[Path], None]) -> None:
        """Run `work` with the folder in a confined child; ConfinedError if it does not finish."""
        process_control(_SET_CHILD_SUBREAPER, 1)
        finished, finishes = os.pipe()
        # What ends the process early, whatever its exit code is, has not finished.
        token = secrets.token_bytes(16)
        child = os.fork()
        if child == 0:
            os.close(finished)
            _run_child(self._confinement, self.scratch, work, finishes, token)
        os.close(finishes)
        try:
            why = self._wait(child)
            has_finished = os.read(finished, 64) == token
        finally:
            os.close(finished)
            end_descendants()
        if why or not has_finished:
            raise ConfinedError(why or self._error() or "the changed code ends its process")

    def _wait(self, child: int) -> str:
        """Wait for the child; return why it was ended, empty if it was not."""
        started = looked = time.monotonic()
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return self._why_ended(status)
            now = time.monotonic()
            why = ""
            if now - looked > _LOOK_SECONDS:
                looked = now
                why = self._why_to_end(now - started)
            if why:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return why
            time.sleep(_TICK)

    def _why_ended(self, status: int) -> str:
        if not os.WIFSIGNALED(status):
            return ""
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return f"the changed code uses more than {self._confinement.cpu_seconds} s of CPU time"
        return f"the changed code is ended by {signal.Signals(number).name}"

    def _why_to_end(self, seconds: float) -> str:
        limits = self._confinement
        if seconds > limits.seconds:
            return f"the changed code takes more than {limits.seconds:.0f} s"
        if _size_of(self.scratch) > limits.scratch_megabytes * _MEGABYTE:
            return f"the changed code writes more than {limits.scratch_megabytes} MB"
        return ""

    def _error(self) -> str:
        with suppress(ConfinedError):
            lines = self.read(_ERROR_FILE).decode(errors="replace")[:_LONGEST_ERROR].splitlines()
            return lines[0] if lines else ""
        return ""

    def take(self, name: str, destination: Path) -> None:
        """Copy a file that the child has written."""
        with self._open(name) as source, destination.open("wb") as target:
            shutil.copyfileobj(source, target)

    def read(self, name: str) -> bytes:
        """Return what the child has written to a file."""
        with self._open(name) as source:
            return source.read()

    def outcomes(self, name: str) -> Outcomes:
        """Return the outcomes that the child has written."""
        copied = self.scratch.with_name(f"{self.scratch.name}-taken")
        try:
            self.take(name, copied)
            return load_outcomes(copied)
        finally:
            copied.unlink(missing_ok=True)

    def _open(self, name: str) -> BinaryIO:
        return open_regular(self.scratch / name, self._confinement.scratch_megabytes * _MEGABYTE)


def open_regular(path: Path, most_bytes: int) -> BinaryIO:
    """Open a file that confined code has written; ConfinedError if it is no plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise ConfinedError("the changed code leaves no result") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
        os.close(descriptor)
        raise ConfinedError("the changed code leaves something else than a result")
    return os.fdopen(descriptor, "rb")


def _run_child(
    confinement: Confinement,
    scratch: Path,
    work: Callable[[Path], None],
    finishes: int,
    token: bytes,
) -> None:
    try:
        close_files(finishes)
        confine(confinement, scratch)
        # After that: the kernel forgets it when a process becomes another user.
        end_with_parent()
        work(scratch)
        os.write(finishes, token)
    except BaseException as error:
        with suppress(BaseException):
            (scratch / _ERROR_FILE).write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _size_of(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def end_descendants() -> None:
    """End all that this process has started, and what that has.

    First all of them are stopped: what is stopped starts no others.
    """
    stopped: set[int] = set()
    while new := set(descendants(os.getpid())) - stopped:
        for process in new:
            with suppress(OSError):
                os.kill(process, signal.SIGSTOP)
        stopped |= new
    for process in stopped:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        while descendants_left := list(descendants(os.getpid())):
            for process in descendants_left:
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            os.waitpid(-1, 0)


def descendants(process: int) -> Iterator[int]:
    """Yield the processes that a process has started, and theirs."""
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError, ValueError):
            for child in map(int, file.read_text().split()):
                yield child
                yield from descendants(child)
