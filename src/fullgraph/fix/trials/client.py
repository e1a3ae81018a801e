"""Starts the trial server for a program, submits requests to it and waits. Imports no torch."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from msgspec import json

from fullgraph.fix.model import FixError, ProgramRecorded, TrialRequest, TrialResult, with_number
from fullgraph.fix.trials.runner import read_result, request_file

_TICK = 0.1


class ProgramTrialRunner:
    """`with ProgramTrialRunner(target) as runner:` runs the program, then takes requests."""

    def __init__(self, target: Sequence[str], *, deadline: float) -> None:
        self._target = list(target)
        self._deadline = deadline
        self._number = 0
        self._buffer = b""
        self._done: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        # From the number of a request to the process that was started for it, and its deadline.
        self._spawned: dict[int, tuple[subprocess.Popen[bytes], float]] = {}

    def __enter__(self) -> ProgramTrialRunner:
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-fix-")
        self.folder = Path(self._folder.name)
        requests, self._to_server = os.pipe()
        self._from_server, replies = os.pipe()
        started = time.monotonic()
        self._process = self._start(str(requests), str(replies), pass_fds=(requests, replies))
        os.close(requests)
        os.close(replies)
        try:
            self.recorded = json.decode(self._read_line(self._deadline), type=ProgramRecorded)
            self._run_time = time.monotonic() - started
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _start(self, *how: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        with (self.folder / "output.txt").open("ab") as output:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "fullgraph.fix.trials.server",
                    *how, str(self.folder), *self._target,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=pass_fds,
                env=_environment(),
            )  # fmt: skip

    @property
    def reruns_program(self) -> bool:
        """Whether the program cannot be forked, so that each trial runs it again."""
        return not self.recorded.can_fork

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._to_server)
        os.close(self._from_server)
        for process, _ in self._spawned.values():
            process.kill()
            process.wait()
        if self._process is not None:
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def output(self) -> str:
        """Return what the program wrote, and the tracebacks of trials."""
        return (self.folder / "output.txt").read_text(errors="replace")

    def _read_line(self, deadline: float = float("inf")) -> bytes:
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self._from_server], [], [], _TICK)
            received = os.read(self._from_server, 1 << 16) if readable else None
            if received == b"":
                raise self._ended_early()
            self._buffer += received or b""
            if time.monotonic() > deadline:
                raise FixError("there was not enough time to run the program; raise --time")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _ended_early(self) -> FixError:
        return FixError(
            f"the program ended early; its last output may say why:\n{self.output()[-800:]}"
        )

    def submit(self, request: TrialRequest) -> int:
        """Start a trial: in a fork of the server, or in a new run of the program."""
        self._number += 1
        data = json.encode(with_number(request, self._number))
        if self.reruns_program:
            request_file(self.folder, self._number).write_bytes(data)
            deadline = time.monotonic() + 2 * self._run_time + request.seconds
            self._spawned[self._number] = (self._start("once", str(self._number)), deadline)
            return self._number
        try:
            os.write(self._to_server, data + b"\n")
        except BrokenPipeError:
            raise self._ended_early() from None
        return self._number

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result."""
        if number in self._spawned:
            process, deadline = self._spawned.pop(number)
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        else:
            while number not in self._done:
                self._done.add(json.decode(self._read_line(), type=int))
        return read_result(self.folder, number)


def _environment() -> dict[str, str]:
    # One thread: a forked child must not wait for threads that it does not have.
    return {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
