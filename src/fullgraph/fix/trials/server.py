"""A process that runs the program once, recording, and then forks a child for each request.

    python -m fullgraph.fix.trials.server REQUESTS REPLIES FOLDER SCRIPT|-m MODULE [ARG]...
    python -m fullgraph.fix.trials.server once NUMBER FOLDER SCRIPT|-m MODULE [ARG]...

REQUESTS and REPLIES are the numbers of open pipes. A child starts with the model built and the
calls recorded, so trying something costs a compile and not a start of the program. It writes what
it found to FOLDER; the parent says on REPLIES that it is done.

What has used a GPU, or the threads that autograd has with some builds of torch, cannot be forked.
Then the second form is used, which runs the program and performs one request by itself.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import sys
import time
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import json

from fullgraph.fix.model import Ready, Request

if TYPE_CHECKING:
    from fullgraph.fix.record.recorder import Recorder

_TICK = 0.05


def main(arguments: list[str]) -> None:
    requests, replies, folder, *target = arguments
    if requests == "once":
        _perform_once(Path(folder), replies, target)
        return
    from fullgraph.fix.trials.fork import can_fork

    recorder, error, details = _recorded(target)
    ready = Ready(
        calls=tuple(call.target.name for call in recorder.calls),
        functions=tuple(each.name for each in recorder.targets),
        error=error,
        details=details,
        forks=bool(error) or can_fork(),
    )
    _reply(int(replies), ready)
    if not error and ready.forks:
        _Server(recorder, Path(folder), int(requests), int(replies)).serve()
    # The program's threads and exit handlers are of no interest any more.
    os._exit(0)


def _recorded(target: list[str]) -> tuple[Recorder, str, str]:
    """Run the program; its calls, and what went wrong with it."""
    import torch

    from fullgraph.fix.record.recorder import Recorder

    # A child of a process that has started threads may wait for them forever.
    torch.set_num_threads(1)
    recorder = Recorder()
    uninstall = recorder.install()
    error, details = _run(target)
    uninstall()
    return recorder, error, details


def _perform_once(folder: Path, number: str, target: list[str]) -> None:
    from fullgraph.fix.trials.fork import perform_here

    recorder, error, _ = _recorded(target)
    if not error:
        request = json.decode((folder / f"request-{number}.json").read_bytes(), type=Request)
        perform_here(request, recorder, folder)
    os._exit(0)


def _run(target: list[str]) -> tuple[str, str]:
    """Run the program; what went wrong with it, and the end of its traceback."""
    try:
        if target[0] == "-m":
            sys.argv = target[1:]
            runpy.run_module(target[1], run_name="__main__", alter_sys=True)
        else:
            _run_script(target)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            return f"it ended with exit code {leaving.code}", ""
    except EOFError:
        return "it reads from standard input, which is closed here", ""
    except BaseException as error:
        lines = traceback.format_exception(error)
        return f"{type(error).__name__}: {error}".splitlines()[0], "".join(lines[-3:])
    return "", ""


def _run_script(target: list[str]) -> None:
    """As `python SCRIPT` does; the module stays, because recorded functions live in it."""
    script = target[0]
    sys.argv = target
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main_module
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    exec(code, main_module.__dict__)


class _Server:
    def __init__(self, recorder: Recorder, folder: Path, requests: int, replies: int) -> None:
        self._recorder = recorder
        self._folder = folder
        self._requests = requests
        self._replies = replies
        # From a child's process to its request and its deadline.
        self._children: dict[int, tuple[int, float]] = {}

    def serve(self) -> None:
        from fullgraph.fix.trials.fork import warm_up

        warm_up()
        buffer = b""
        while True:
            readable, _, _ = select.select([self._requests], [], [], _TICK)
            if readable:
                received = os.read(self._requests, 1 << 20)
                if not received:
                    break
                *lines, buffer = (buffer + received).split(b"\n")
                for line in lines:
                    self._start(json.decode(line, type=Request))
            self._collect()
        for child in self._children:
            os.kill(child, signal.SIGKILL)

    def _start(self, request: Request) -> None:
        from fullgraph.fix.trials.fork import start_child

        child = start_child(request, self._recorder, self._folder)
        self._children[child] = (request.number, time.monotonic() + request.seconds)

    def _collect(self) -> None:
        from fullgraph.fix.trials.fork import reaped

        for child, (number, deadline) in list(self._children.items()):
            ended, _ = reaped(child)
            if not ended and time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            if ended:
                del self._children[child]
                _reply(self._replies, number)


def _reply(pipe: int, message: Any) -> None:
    data = json.encode(message) + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
