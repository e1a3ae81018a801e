"""Starts worker processes and talks to them; and what such a process does."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import torch
from msgspec import json

from fullgraph.capture.dynamo_listener import capture
from fullgraph.fix.trials.children import has_ended
from fullgraph.where.facts import ChoiceFacts, EagerFacts, RoundTime, WorkerRequest
from fullgraph.where.recording import PlacementRecorder
from fullgraph.where.warm_up import CACHE_VARIABLE
from fullgraph.where.worker import Worker

_TICK = 0.05
_ROUND = b"round\n"
_Answer = TypeVar("_Answer", EagerFacts, ChoiceFacts, RoundTime, str)


class WorkerEndedError(Exception):
    """A worker has crashed, or has taken too long."""


class WorkerProcess:
    """One worker: `read` its first answer, then ask it for rounds."""

    def __init__(self, pid: int, source: int, out: int, alive: int) -> None:
        self._pid = pid
        self._source = source
        self._out = out
        self._alive = alive
        self._buffer = b""

    def read(self, kind: type[_Answer], deadline: float) -> _Answer:
        """Return the next answer; WorkerEndedError if there is none in time."""
        while b"\n" not in self._buffer:
            if time.monotonic() > deadline:
                raise WorkerEndedError("it took too long")
            readable, _, _ = select.select([self._source, self._alive], [], [], _TICK)
            if self._alive in readable:
                # The parent no longer waits for the result.
                os.killpg(os.getpgrp(), signal.SIGKILL)
            if self._source in readable:
                received = os.read(self._source, 1 << 16)
                if not received:
                    raise WorkerEndedError("it crashed")
                self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.decode(line, type=kind)

    def time_round(self, deadline: float) -> RoundTime:
        """Let the worker time a round."""
        try:
            os.write(self._out, _ROUND)
        except BrokenPipeError:
            raise WorkerEndedError("it crashed") from None
        return self.read(RoundTime, deadline)

    def end(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        while not has_ended(self._pid):
            time.sleep(_TICK)
        os.close(self._source)
        os.close(self._out)


def fork_worker(
    recorder: PlacementRecorder, request: WorkerRequest, folder: Path, alive: int
) -> WorkerProcess:
    """Start a worker as a fork of this process."""
    source, answers = os.pipe()
    commands, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(source)
            os.close(out)
            capture.after_fork()
            serve(recorder, request, folder, commands, answers)
        finally:
            # Without exit handlers: those belong to the parent.
            os._exit(0)
    os.close(commands)
    os.close(answers)
    return WorkerProcess(pid, source, out, alive)


def spawn_worker(
    target: Sequence[str], request: WorkerRequest, folder: Path, alive: int
) -> WorkerProcess:
    """Start a worker that runs the program again."""
    source, answers = os.pipe()
    commands, out = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "fullgraph.where.server", "worker", str(commands), str(answers),
            json.encode(request).decode(), str(folder), *target,
        ],
        stdin=subprocess.DEVNULL,
        pass_fds=(commands, answers),
    )  # fmt: skip
    os.close(commands)
    os.close(answers)
    return WorkerProcess(process.pid, source, out, alive)


def serve(
    recorder: PlacementRecorder, request: WorkerRequest, folder: Path, commands: int, out: int
) -> None:
    """Do what a request says, then time rounds until the pipe is closed."""
    try:
        worker = _prepared(recorder, request, folder)
        _answer(out, _first_answer(worker, request))
        while os.read(commands, len(_ROUND)):
            _answer(out, worker.time_round())
    except BaseException as error:
        # The output of the program is shown if all goes wrong.
        sys.stderr.write("".join(traceback.format_exception(error)))
        sys.stderr.flush()


def _prepared(recorder: PlacementRecorder, request: WorkerRequest, folder: Path) -> Worker:
    torch.set_num_threads(request.threads)
    os.environ[CACHE_VARIABLE] = request.cache
    return Worker(recorder, recorder.roots[request.root], folder)


def _first_answer(worker: Worker, request: WorkerRequest) -> EagerFacts | ChoiceFacts | str:
    plan = request.plan
    match request.task:
        case "scout":
            return worker.scout()
        case "reference" if plan is not None:
            worker.keep_reference(plan)
            return ""
        case "eager" if plan is not None:
            return worker.check_eager(plan)
        case "choice" if plan is not None and request.choice is not None:
            return worker.measure_choice(request.choice, plan, request.backend)
    raise ValueError(request.task)


def _answer(pipe: int, answer: EagerFacts | ChoiceFacts | RoundTime | str) -> None:
    data = json.encode(answer) + b"\n"
    while data:
        data = data[os.write(pipe, data) :]
