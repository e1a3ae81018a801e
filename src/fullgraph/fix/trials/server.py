"""A process that runs the program once, recording, and then forks one child per request.

    python -m fullgraph.fix.trials.server REQUESTS REPLIES FOLDER SCRIPT|-m MODULE [ARG]...
    python -m fullgraph.fix.trials.server once NUMBER FOLDER SCRIPT|-m MODULE [ARG]...

REQUESTS and REPLIES are the numbers of open pipes. A child starts with the model built and the
calls recorded, so a trial costs a compile and not a start of the program. The child writes its
result to FOLDER, and the parent writes the request's number to REPLIES when the child has ended.

A process that has used a GPU, or the threads that autograd has with some builds of torch, cannot
be forked. The second form is for that case: it runs the program and executes one request.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.fix.model import ProgramRecorded, TrialRequest
from fullgraph.fix.record.program import RecordedProgram, record_program
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.trials.runner import request_file

# `trials.fork` imports the compiler. It is imported when the program has run, because a program
# may set the compiler's environment variables first.

_TICK = 0.05


def main(arguments: list[str]) -> None:
    """Record the program, then serve requests until the pipe is closed."""
    requests, replies, folder, *target = arguments
    program = record_program(target)
    if requests == "once":
        _execute_once(program, Path(folder), int(replies))
    else:
        _serve(program, Path(folder), int(requests), int(replies))
    # The program's threads and exit handlers must not run.
    os._exit(0)


def _execute_once(program: RecordedProgram, folder: Path, number: int) -> None:
    from fullgraph.fix.trials.fork import execute_here

    if not program.error:
        data = request_file(folder, number).read_bytes()
        execute_here(json.decode(data, type=TrialRequest), program.recorder, folder)


def _serve(program: RecordedProgram, folder: Path, requests: int, replies: int) -> None:
    recorder = program.recorder
    recorded = ProgramRecorded(
        calls=tuple(call.target.name for call in recorder.calls),
        functions=tuple(each.name for each in recorder.targets),
        error=program.error,
        details=program.details,
        main_file=program.main_file,
        sources=program.sources.fingerprints,
        started=program.sources.started,
        seconds=program.seconds,
    )
    if recorded.error or not recorded.calls:
        # There is nothing to try, so the compiler is not imported.
        _reply(replies, recorded)
        return
    from fullgraph.fix.runtime.hot_patch import index_functions
    from fullgraph.fix.trials.fork import can_fork, preload_compiler

    recorded = msgspec.structs.replace(recorded, can_fork=can_fork())
    _reply(replies, recorded)
    if recorded.can_fork:
        preload_compiler(gradients=recorder.needs_gradients())
        index_functions()
        _Server(recorder, folder, requests, replies).serve()


class _Server:
    def __init__(self, recorder: CallRecorder, folder: Path, requests: int, replies: int) -> None:
        self._recorder = recorder
        self._folder = folder
        self._requests = requests
        self._replies = replies
        # From a child's process to the number of its request and its deadline.
        self._children: dict[int, tuple[int, float]] = {}

    def serve(self) -> None:
        """Fork a child per request until the client closes its pipe."""
        buffer = b""
        while True:
            readable, _, _ = select.select([self._requests], [], [], _TICK)
            if readable:
                received = os.read(self._requests, 1 << 20)
                if not received:
                    break
                *lines, buffer = (buffer + received).split(b"\n")
                for line in lines:
                    self._start(json.decode(line, type=TrialRequest))
            self._collect()
        for child in self._children:
            os.kill(child, signal.SIGKILL)

    def _start(self, request: TrialRequest) -> None:
        from fullgraph.fix.trials.fork import start_child

        child = start_child(request, self._recorder, self._folder)
        self._children[child] = (request.number, time.monotonic() + request.seconds)

    def _collect(self) -> None:
        from fullgraph.fix.trials.fork import poll_child

        for child, (number, deadline) in list(self._children.items()):
            ended, _ = poll_child(child)
            if not ended and time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            if ended:
                del self._children[child]
                _reply(self._replies, number)


def _reply(pipe: int, message: Struct | int) -> None:
    data = json.encode(message) + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
