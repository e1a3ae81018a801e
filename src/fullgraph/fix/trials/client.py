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
from msgspec.structs import replace

from fullgraph.fix.model import (
    EndedTrial,
    FixError,
    ProgramRecorded,
    TrialRequest,
    TrialResult,
    with_number,
)
from fullgraph.fix.trials.merge import representatives
from fullgraph.fix.trials.runner import Part, read_result, result_of

_TICK = 0.1


class ProgramTrialRunner:
    """`with ProgramTrialRunner(target) as runner:` runs the program, then takes requests."""

    def __init__(self, target: Sequence[str], *, deadline: float) -> None:
        self._target = list(target)
        self._deadline = deadline
        self._number = 0
        self._buffer = b""
        self._ended: dict[int, EndedTrial] = {}
        # The number of the request for the reference, and the calls that trials run.
        self._reference = 0
        self._representatives: tuple[int, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ProgramTrialRunner:
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-fix-")
        self.folder = Path(self._folder.name)
        requests, self._to_server = os.pipe()
        self._from_server, replies = os.pipe()
        self._process = self._start(str(requests), str(replies), pass_fds=(requests, replies))
        os.close(requests)
        os.close(replies)
        try:
            self.recorded = json.decode(self._read_line(self._deadline), type=ProgramRecorded)
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
        """Whether each trial runs the program again."""
        return False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._to_server)
        os.close(self._from_server)
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
        """Start a trial at the checkpoints of its calls."""
        self._number += 1
        if request.task == "reference":
            self._reference = self._number
        calls = () if request.all_calls or request.task != "trial" else self._representatives
        numbered = replace(with_number(request, self._number), calls=calls)
        try:
            os.write(self._to_server, json.encode(numbered) + b"\n")
        except BrokenPipeError:
            raise self._ended_early() from None
        return self._number

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result."""
        while number not in self._ended:
            ended = json.decode(self._read_line(), type=EndedTrial)
            self._ended[ended.number] = ended
        parts = [Part(str(self.folder), number, *each) for each in self._ended[number].parts]
        if number == self._reference:
            self._representatives = representatives({each.call: result_of(each) for each in parts})
        return read_result(parts)


def _environment() -> dict[str, str]:
    # One thread: a forked child must not wait for threads that it does not have.
    return {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
