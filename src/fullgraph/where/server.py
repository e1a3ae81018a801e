"""The process that runs the program once, recording, and then measures every choice.

    python -m fullgraph.where.server OUT ALIVE FOLDER SECONDS BACKEND SCRIPT|-m MODULE [ARG]...
    python -m fullgraph.where.server worker IN OUT REQUEST FOLDER SCRIPT|-m MODULE [ARG]...

OUT and ALIVE are the numbers of open pipes. The server writes messages to OUT, and ends when ALIVE
is closed. A worker is a fork of the server, so it starts with the model built and the calls
recorded. A process that has used a GPU cannot be forked; then each worker runs the program again
in the second form.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import torch
from msgspec import json

from fullgraph.fix.record.program import run_target
from fullgraph.where.facts import Message, Recorded, WorkerRequest
from fullgraph.where.recording import PlacementRecorder, Root

# The part of the time limit after which a program is ended that has made calls.
_PROGRAM_PART = 0.4
# What compiles is imported when the program has run, because a program may set the compiler's
# environment variables first.


def main(arguments: list[str]) -> None:
    """Record the program, then measure, or be one worker."""
    threads = torch.get_num_threads()
    # A forked child would wait forever for threads that only its parent has.
    torch.set_num_threads(1)
    if arguments[0] == "worker":
        source, out, request, folder, *target = arguments[1:]
        decoded = json.decode(request, type=WorkerRequest)
        recorder, error, _ = _record(target, PlacementRecorder(most_calls=decoded.calls))
        if not error:
            from fullgraph.where.worker_process import serve

            serve(recorder, decoded, Path(folder), int(source), int(out))
        os._exit(0)
    out, alive, folder, seconds, backend, *target = arguments
    send = Sender(int(out))
    started = time.monotonic()
    run_seconds = float(seconds) * _PROGRAM_PART
    recorder, error, details = _record(target, PlacementRecorder(seconds=run_seconds))
    # A program that sets the number of threads has used them, so that a fork cannot.
    threads = 1 if torch.get_num_threads() > 1 else threads
    roots = recorder.chosen_roots()
    send(
        Recorded(
            torch=str(torch.__version__),
            threads=threads,
            targets=tuple(root.name for root in roots),
            compiled=tuple(part.target.name for part in recorder.parts),
            backend=backend or _backend_of(roots),
            error=error,
            details=details,
            ended=recorder.has_ended_program,
            unknown_backend=_unknown(backend),
        )
    )
    if roots and not error and not _unknown(backend):
        from fullgraph.where.measuring import Measurement

        left = float(seconds) - (time.monotonic() - started)
        Measurement(
            recorder, target, Path(folder), send, int(alive),
            seconds=left, backend=backend, threads=threads,
        ).run()  # fmt: skip
    # The program's threads and exit handlers must not run.
    os._exit(0)


def _record(target: list[str], recorder: PlacementRecorder) -> tuple[PlacementRecorder, str, str]:
    uninstall = recorder.install()
    error, details = run_target(target)
    uninstall()
    if recorder.has_ended_program:
        error = details = ""
    return recorder, error, details


def _unknown(backend: str) -> str:
    """Return the name of a backend that torch does not know; empty if it does."""
    try:
        torch.compile(_backend_of, **({"backend": backend} if backend else {}))
    except Exception:
        return backend
    return ""


def _backend_of(roots: list[Root]) -> str:
    """Return the name of the backend that the program uses; inductor if it names none."""
    backend = roots[0].options.get("backend", "inductor") if roots else "inductor"
    return backend if isinstance(backend, str) else getattr(backend, "__name__", "its own")


class Sender:
    """Writes messages to a pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def __call__(self, message: Message) -> None:
        """Write one line."""
        data = json.encode(message) + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
