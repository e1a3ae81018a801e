"""`choose_for_program`: run the program, measure the choices, recommend one. Imports no torch."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from msgspec import json

from fullgraph.errors import FullgraphError
from fullgraph.where.choosing import target_report
from fullgraph.where.facts import Message, Recorded, Step, TargetFacts, Update
from fullgraph.where.report import WHERE_FORMAT, WhereReport

Progress = Callable[[str], None]
_TICK = 0.1
# What a step that is under way may take longer than the limit.
_GRACE = 1.25


class WhereError(FullgraphError):
    """A program for which no choice can be measured."""


def choose_for_program(
    target: Sequence[str], *, seconds: float, backend: str, progress: Progress
) -> WhereReport:
    """Measure where to compile in `SCRIPT [ARG]...` or `-m MODULE [ARG]...`.

    An interrupt ends the measurement; the report has what was measured until then.
    """
    started = time.monotonic()
    progress("running the program")
    collected = _Collected(progress)
    interrupted = False
    with _Server(target, seconds, backend) as server:
        try:
            for message in server.messages(started + seconds * _GRACE):
                collected.add(message)
        except KeyboardInterrupt:
            interrupted = True
        output, has_ended = server.output(), server.has_ended()
    if collected.recorded is None and interrupted:
        raise KeyboardInterrupt
    if collected.recorded is None:
        raise _without_recording(has_ended, output)
    recorded = collected.recorded
    require_calls(recorded)
    return WhereReport(
        format=WHERE_FORMAT,
        torch=recorded.torch,
        backend=recorded.backend,
        threads=recorded.threads,
        seconds=time.monotonic() - started,
        targets=tuple(target_report(each, interrupted) for each in collected.targets),
        ended=recorded.ended,
        interrupted=interrupted,
    )


class _Collected:
    """What the server has told so far."""

    def __init__(self, progress: Progress) -> None:
        self.recorded: Recorded | None = None
        self.targets: tuple[TargetFacts, ...] = ()
        self._progress = progress

    def add(self, message: Message) -> None:
        """Take one message."""
        match message:
            case Recorded():
                self.recorded = message
            case Step(text=text):
                self._progress(text)
            case Update(targets=targets):
                self.targets = targets


def _without_recording(has_ended: bool, output: str) -> WhereError:
    if not has_ended:
        return WhereError("there was not enough time to run the program; raise --time")
    return WhereError(f"the program ended early; its last output may say why:\n{output[-800:]}")


def require_calls(recorded: Recorded) -> None:
    """Raise an error that says why nothing can be measured, if nothing can."""
    if recorded.error:
        where = f" ({recorded.details})" if recorded.details else ""
        raise WhereError(
            f"the program fails on its own: {recorded.error}{where}; make it run to its end, "
            "without input, first"
        )
    if recorded.unknown_backend:
        raise WhereError(
            f"there is no backend {recorded.unknown_backend}; torch.compiler.list_backends() lists "
            "those of torch"
        )
    if not recorded.targets and recorded.compiled:
        functions = ", ".join(dict.fromkeys(recorded.compiled[:3]))
        raise WhereError(
            f"the program never calls the functions that it compiles ({functions}); call them with "
            "typical inputs"
        )
    if not recorded.targets:
        raise WhereError(
            "the program calls no torch.nn.Module and compiles no function; name a program that "
            "runs a model"
        )


class _Server:
    """The process that runs the program and measures."""

    def __init__(self, target: Sequence[str], seconds: float, backend: str) -> None:
        self._target = list(target)
        self._seconds = seconds
        self._backend = backend

    def __enter__(self) -> _Server:
        self._folder = tempfile.TemporaryDirectory(
            prefix="fullgraph-where-", ignore_cleanup_errors=True
        )
        self._source, out = os.pipe()
        alive, self._alive = os.pipe()
        path = Path(self._folder.name)
        with (path / "output.txt").open("wb") as output:
            self._process = subprocess.Popen(
                [
                    sys.executable, "-m", "fullgraph.where.server", str(out), str(alive), str(path),
                    str(self._seconds), self._backend, *self._target,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(out, alive),
                env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
                # An interrupt ends the measurement here; the server is ended with its workers.
                start_new_session=True,
            )  # fmt: skip
        os.close(out)
        os.close(alive)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._source)
        os.close(self._alive)
        self._folder.cleanup()

    def messages(self, deadline: float) -> Iterator[Message]:
        """Yield the messages until the server ends or the time is over."""
        decoder = json.Decoder(Message)
        buffer = b""
        while time.monotonic() < deadline:
            readable, _, _ = select.select([self._source], [], [], _TICK)
            received = os.read(self._source, 1 << 16) if readable else None
            if received == b"":
                return
            *lines, buffer = (buffer + (received or b"")).split(b"\n")
            yield from map(decoder.decode, lines)

    def has_ended(self) -> bool:
        """Return whether the server has ended by itself."""
        return self._process.poll() is not None

    def output(self) -> str:
        """Return what the program wrote, and the tracebacks of workers."""
        return (Path(self._folder.name) / "output.txt").read_text(errors="replace")
