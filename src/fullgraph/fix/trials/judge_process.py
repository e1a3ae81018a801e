"""Starts the process that judges trials, and talks to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from msgspec import json

from fullgraph.fix.model import FixError, TrialRequest
from fullgraph.fix.trials.children import end_with_parent
from fullgraph.fix.trials.runner import Part

_HAS_ENDED = "the process that compares results has ended; run fullgraph again"


class JudgeProcess:
    """A process that compares outcomes; see `judge.py`."""

    def __init__(self, requests: int, replies: int, wait: Callable[[], object]) -> None:
        """`wait` waits for the end of the process, which its closed pipe ends, or ends it."""
        self._requests = requests
        # Readable when a verdict has been written.
        self.replies = replies
        self._wait = wait
        self._buffer = b""

    @classmethod
    def forked(cls) -> JudgeProcess:
        """Fork the judge from this process, which has not run the program yet."""
        from_us, requests = os.pipe()
        replies, to_us = os.pipe()
        process = os.fork()
        if process == 0:
            with suppress(BaseException):
                os.close(requests)
                os.close(replies)
                end_with_parent()
                from fullgraph.fix.trials.judge import serve

                serve(from_us, to_us)
            os._exit(0)
        os.close(from_us)
        os.close(to_us)
        return cls(requests, replies, partial(_kill, process))

    @classmethod
    def spawned(cls) -> JudgeProcess:
        """Start the judge as a program of its own: this process has run code of the user."""
        from_us, requests = os.pipe()
        replies, to_us = os.pipe()
        command = [sys.executable, "-m", "fullgraph.fix.trials.judge", str(from_us), str(to_us)]
        process = subprocess.Popen(command, pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        return cls(requests, replies, process.wait)

    @property
    def descriptors(self) -> tuple[int, int]:
        """The file descriptors that only this process may hold open."""
        return self._requests, self.replies

    def start(self, part: Part, request: TrialRequest) -> None:
        """Ask for a verdict; `ended` returns the part when it has been written."""
        try:
            os.write(self._requests, json.encode((part, request)) + b"\n")
        except BrokenPipeError:
            raise FixError(_HAS_ENDED) from None

    def ended(self) -> list[Part]:
        """Wait until there are new verdicts and return the parts that they are about."""
        received = os.read(self.replies, 1 << 16)
        if not received:
            raise FixError(_HAS_ENDED)
        *lines, self._buffer = (self._buffer + received).split(b"\n")
        return [json.decode(line, type=Part) for line in lines]

    def judge(self, part: Part, request: TrialRequest) -> None:
        """Wait for the verdict on a part."""
        self.start(part, request)
        while part not in self.ended():
            continue

    def end(self) -> None:
        """Let the process end."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self._wait()


def _kill(process: int) -> None:
    # A process that the program has left behind may hold the pipe open, and a program that ignores
    # SIGCHLD leaves no status of its children.
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
