"""A process that has imported the compiler and forks one child per replay of the program.

    python -m fullgraph.recompiles.zygote [MODULE]...

Imports the modules, which compiling will need. Reads one `ReplayRequest` per line and writes one
line when the child has ended. No operator runs before the fork, so that no pool of threads exists
that the children would miss.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import torch._dynamo  # noqa: F401
from msgspec import json

from fullgraph.recompiles.messages import OUTCOME_FILE, ReplayOutcome, ReplayRequest
from fullgraph.recompiles.replayed_program import run_replay

_TICK = 0.005


def main() -> None:
    """Serve requests until the client closes the pipe or ends this process."""
    signal.signal(signal.SIGTERM, _leave)
    # The program must not write to the pipe of the replies.
    replies = os.dup(1)
    for name in sys.argv[1:]:
        with suppress(ImportError):
            import_module(name)
    os.write(replies, b"ready\n")
    for line in sys.stdin.buffer:
        request = json.decode(line, type=ReplayRequest)
        _wait(_fork(request, replies), request)
        os.write(replies, b"ended\n")


def _leave(_number: int, _frame: object) -> None:
    sys.exit()


def _fork(request: ReplayRequest, replies: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(replies)
            # The program and its own children can be stopped together.
            os.setsid()
            run_replay(request)
        finally:
            os._exit(1)
    return child


def _wait(child: int, request: ReplayRequest) -> None:
    """Wait for a child, which is stopped if it takes too long, or if this process is to end."""
    deadline = time.monotonic() + request.seconds
    try:
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > deadline:
                _write_outcome(request, ReplayOutcome("late"))
                break
            time.sleep(_TICK)
    finally:
        # Also the workers of the program that have outlived it.
        _kill_group(child)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _write_outcome(request: ReplayRequest, outcome: ReplayOutcome) -> None:
    """Write how a run ended."""
    (Path(request.folder) / OUTCOME_FILE).write_bytes(json.encode(outcome))


if __name__ == "__main__":
    try:
        main()
    finally:
        # Python itself would look at every object of torch before it ends, which takes a second.
        os._exit(0)
