"""A process that tells a signal to the whole process group from one to a single process.

The program runs in the process group of `fullgraph run`, as it would in that of a shell. A signal
to the group therefore reaches both, and only a signal to `fullgraph run` alone must be passed on.
The kernel does not say which of the two a signal was. The witness is a third member of the group
that only keeps signals pending: it has a signal if, and only if, the group was sent it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NoReturn

_YES = b"y"
_NO = b"n"


class GroupWitness:
    """A child process in the group of this one; it ends with this process or with `close`."""

    def __init__(self) -> None:
        # Descriptors that Python opens are not inherited by the program.
        questions, self._questions = os.pipe()
        self._answers, answers = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            _answer_until_closed(questions, answers)
        os.close(questions)
        os.close(answers)

    def was_signaled(self, number: int) -> bool:
        """Return whether the group was sent this signal since the last call, and forget it.

        A witness that was killed has seen nothing.
        """
        _wait_for_running_signals()
        try:
            os.write(self._questions, bytes([number]))
            return os.read(self._answers, 1) == _YES
        except OSError:
            return False

    def close(self) -> None:
        """End the witness."""
        os.close(self._questions)
        os.close(self._answers)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._process, 0)


def _wait_for_running_signals() -> None:
    """Return when a signal that has reached this process has reached its whole group.

    The kernel sends a signal to a group under a lock, which every call of setpgid waits for.
    """
    with contextlib.suppress(PermissionError):
        # This changes nothing; the leader of a session may not even ask for it.
        os.setpgid(0, os.getpgrp())


def _answer_until_closed(questions: int, answers: int) -> NoReturn:
    """Answer which signals are pending, until the other process closes the pipe or ends."""
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _close_all_but(questions, answers)
        while question := os.read(questions, 1):
            is_pending = signal.sigtimedwait(question, 0) is not None
            os.write(answers, _YES if is_pending else _NO)
    finally:
        # Exit handlers and buffers belong to the other process.
        os._exit(0)


def _close_all_but(first: int, second: int) -> None:
    """Close the inherited files: a reader of the program's output waits for the last writer."""
    lower, upper = sorted((first, second))
    os.closerange(0, lower)
    os.closerange(lower + 1, upper)
    os.closerange(upper + 1, os.sysconf("SC_OPEN_MAX"))
