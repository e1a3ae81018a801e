"""The other side of the workshop: starts it, asks it, and waits for answers. No torch here."""

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
from typing import Any

from msgspec import json

from fullgraph.fix.model import NO_PLAN, MendError, Plan, Ready, Request, Safety, Trial
from fullgraph.fix.trials.fork import read_trial

_TICK = 0.1


class Workshop:
    """`with Workshop(target) as shop:` has run the program and takes requests."""

    def __init__(self, target: Sequence[str], *, deadline: float) -> None:
        self._target = list(target)
        self._deadline = deadline
        self._number = 0
        self._buffer = b""
        self._done: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        # From a request to the process that was started for it, and its deadline.
        self._spawned: dict[int, tuple[subprocess.Popen[bytes], float]] = {}

    def __enter__(self) -> Workshop:
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-mend-")
        self.folder = Path(self._folder.name)
        requests, self._to = os.pipe()
        self._from, replies = os.pipe()
        started = time.monotonic()
        self._process = self._start(str(requests), str(replies), pass_fds=(requests, replies))
        os.close(requests)
        os.close(replies)
        try:
            self.ready = self._wait_until_ready()
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
    def runs_anew(self) -> bool:
        return not self.ready.forks

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._to)
        os.close(self._from)
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
        """What the program wrote, and what went wrong in children."""
        return (self.folder / "output.txt").read_text(errors="replace")

    def _wait_until_ready(self) -> Ready:
        return json.decode(self._read_line(self._deadline), type=Ready)

    def _read_line(self, deadline: float = float("inf")) -> bytes:
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], _TICK)
            received = os.read(self._from, 1 << 16) if readable else None
            if received == b"":
                raise MendError(f"the program ended early:\n{self.output()[-800:]}")
            self._buffer += received or b""
            if time.monotonic() > deadline:
                raise MendError("there was not enough time to run the program: raise --time")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    # Asking

    def ask(self, task: Any, plan: Plan = NO_PLAN, effects: Safety = "exact", **more: Any) -> int:
        """Start something; `answer` has what it found."""
        self._number += 1
        request = Request(self._number, task, plan, effects=effects, **more)
        if self.ready.forks:
            try:
                os.write(self._to, json.encode(request) + b"\n")
            except BrokenPipeError:
                raise MendError(f"the program ended early:\n{self.output()[-800:]}") from None
        else:
            (self.folder / f"request-{self._number}.json").write_bytes(json.encode(request))
            deadline = time.monotonic() + 2 * self._run_time + request.seconds
            self._spawned[self._number] = (self._start("once", str(self._number)), deadline)
        return self._number

    def answer(self, number: int) -> Trial:
        """Wait for it; what takes longer than it may is ended."""
        if number in self._spawned:
            process, deadline = self._spawned.pop(number)
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            return read_trial(self.folder, number)
        while number not in self._done:
            self._done.add(json.decode(self._read_line(), type=int))
        return read_trial(self.folder, number)


def _environment() -> dict[str, str]:
    # One thread: a forked child must not wait for threads that it does not have.
    return {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
