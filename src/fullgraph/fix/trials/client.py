"""Starts the trial server for a program, submits requests to it and waits. Imports no torch."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from msgspec import json
from msgspec.structs import replace

from fullgraph.fix.model import (
    NO_PLAN,
    EndedTrial,
    FixError,
    ProgramRecorded,
    TrialRequest,
    TrialResult,
    with_number,
)
from fullgraph.fix.trials.hanging import HangingWatch
from fullgraph.fix.trials.merge import representatives
from fullgraph.fix.trials.runner import Part, read_result, result_of

_TICK = 0.1
# The server ends at once, unless the machine is busy.
_ENDING_SECONDS = 10.0
_CRASHED = "the trial crashed"


class ProgramTrialRunner:
    """`with ProgramTrialRunner(target) as runner:` runs the program, then takes requests."""

    # The module that serves trials.
    server = "fullgraph.fix.trials.server"

    def __init__(
        self,
        target: Sequence[str],
        *,
        deadline: float,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is that of the program; None for that of this process."""
        self._target = list(target)
        self._deadline = deadline
        self._variables = os.environ if environment is None else environment
        self._number = 0
        self._buffer = b""
        # The requests that have not ended, and the results of those that have.
        self._pending: dict[int, TrialRequest] = {}
        self._results: dict[int, TrialResult] = {}
        # The number of the request for the reference, and the calls that trials run.
        self._reference = 0
        self._representatives: tuple[int, ...] = ()
        # Those of the reference: each call, and whether its inputs vary.
        self.parts: tuple[tuple[int, bool], ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        # Where all trials run in one process, it is ended when one of them hangs.
        self._watch: HangingWatch | None = None
        self._must_restart = False

    def __enter__(self) -> ProgramTrialRunner:
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-fix-")
        self.folder = Path(self._folder.name)
        try:
            self.recorded = self._run_program()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _run_program(self) -> ProgramRecorded:
        """Start the server and wait until it has run the program."""
        requests, self._to_server = os.pipe()
        self._from_server, replies = os.pipe()
        self._buffer = b""
        self._process = self._start(str(requests), str(replies), pass_fds=(requests, replies))
        os.close(requests)
        os.close(replies)
        return json.decode(self._read_line(self._deadline), type=ProgramRecorded)

    def _start(self, *how: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        with (self.folder / "output.txt").open("ab") as output:
            return subprocess.Popen(
                [
                    sys.executable, "-m", self.server,
                    *how, str(self.folder), *self._target,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=pass_fds,
                env=_environment(self._variables),
            )  # fmt: skip

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end_server()
        self._folder.cleanup()

    def _end_server(self, *, now: bool = False) -> None:
        if self._process is None:
            return
        os.close(self._to_server)
        os.close(self._from_server)
        if now:
            self._process.kill()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def output(self) -> str:
        """Return what the program wrote, and the tracebacks of trials."""
        return (self.folder / "output.txt").read_text(errors="replace")

    def _read_line(self, deadline: float = float("inf")) -> bytes:
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self._from_server], [], [], _TICK)
            received = os.read(self._from_server, 1 << 16) if readable else None
            if received == b"":
                raise EOFError
            self._buffer += received or b""
            if time.monotonic() > deadline:
                raise FixError("there was not enough time to run the program; raise --time")
            if self._watch is not None and (why := self._watch.why_to_end()):
                raise TimeoutError(why)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _ended_early(self) -> FixError:
        return FixError(
            f"the program ended early; its last output may say why:\n{self.output()[-800:]}"
        )

    def submit(self, request: TrialRequest) -> int:
        """Start a trial at the checkpoints of its calls."""
        if self._must_restart:
            self._restart()
        self._number += 1
        if request.task == "reference":
            self._reference = self._number
        calls = () if request.all_calls or request.task != "trial" else self._representatives
        self._send(replace(with_number(request, self._number), calls=calls))
        return self._number

    @property
    def next_number(self) -> int:
        """The number that the next request will have."""
        return self._number + 1

    def _send(self, request: TrialRequest) -> None:
        self._pending[request.number] = request
        # The server that has failed is noticed when its result is read.
        with suppress(BrokenPipeError):
            os.write(self._to_server, json.encode(request) + b"\n")

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result."""
        while number not in self._results:
            if self._must_restart:
                self._restart()
            if self.recorded.can_fork:
                self._take_result()
            else:
                self._take_result_or_restart()
        return self._results.pop(number)

    def _take_result(self) -> EndedTrial:
        try:
            ended = json.decode(self._read_line(), type=EndedTrial)
        except EOFError:
            raise self._ended_early() from None
        parts = [Part(str(self.folder), ended.number, *each) for each in ended.parts]
        if ended.number == self._reference:
            self.parts = ended.parts
            self._representatives = representatives({each.call: result_of(each) for each in parts})
        self._results[ended.number] = read_result(parts)
        del self._pending[ended.number]
        return ended

    # Where the program cannot be forked, one process runs all trials, one after the other.

    def _take_result_or_restart(self) -> None:
        assert self._process is not None
        self._watch = HangingWatch(self._process.pid)
        try:
            self._must_restart = self._take_result().left_trace
        except (FixError, TimeoutError) as error:
            why = str(error) if isinstance(error, TimeoutError) else _CRASHED
            failed = next(iter(self._pending))
            del self._pending[failed]
            self._results[failed] = TrialResult(failed, None, error=why)
            self._must_restart = True
        finally:
            self._watch = None

    def _restart(self) -> None:
        """Run the program again, check that it does the same, and repeat what is pending."""
        self._must_restart = False
        self._end_server(now=True)
        again = self._run_program()
        if again.error or again.calls != self.recorded.calls:
            raise FixError(
                "the program does something else when it is run again, so fixes cannot be "
                "verified; set the random seeds"
            )
        pending = [request for request in self._pending.values() if request.task != "reference"]
        self._pending.clear()
        self._number += 1
        number = self._number
        self._send(TrialRequest("trial", NO_PLAN, varied=False, number=number))
        for request in pending:
            self._send(request)
        self._take_result_or_restart()
        check = self._results.pop(number)
        if check.error or check.differences:
            what = check.error or check.differences[0].what
            raise FixError(
                f"the program does something else when it is run again ({what}), so fixes cannot "
                "be verified; set the random seeds"
            )


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    # One thread: a forked child must not wait for threads that it does not have.
    return {**variables, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
