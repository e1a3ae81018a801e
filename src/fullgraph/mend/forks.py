"""Tries things in forks of this process: each starts from its state, and leaves no trace."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import json

from fullgraph.mend.model import NO_PLAN, Plan, Request, Safety, Trial

if TYPE_CHECKING:
    from fullgraph.mend.record import Recorder

_TICK = 0.01


@cache
def warm_up() -> None:
    """Have everything imported that compiling needs, so that no child has to do it."""
    import torch

    from fullgraph.capture.api import explain

    explain(lambda x: x + 1, torch.zeros(1))
    torch.compile(lambda x: x * 2, backend="aot_eager")(torch.zeros(1, requires_grad=True))
    torch._dynamo.reset()


def start_child(request: Request, recorder: Recorder, folder: Path) -> int:
    """Fork a child that performs the request and writes what it found to the folder."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            (folder / f"{request.number}.json").write_bytes(_performed(request, recorder, folder))
        finally:
            # Without exit handlers: those belong to the parent.
            os._exit(0)
    return child


def _performed(request: Request, recorder: Recorder, folder: Path) -> bytes:
    try:
        import torch

        from fullgraph.capture.live import capture
        from fullgraph.mend.trial import perform

        # The threads of the parent do not exist here; waiting for them would never end.
        torch.set_num_threads(1)
        capture.after_fork()
        return json.encode(perform(request, recorder, folder))
    except BaseException as error:
        sys.stderr.write("".join(traceback.format_exception(error)))
        return json.encode(Trial(request.number, None, error=f"{type(error).__name__}: {error}"))


def read_trial(folder: Path, number: int) -> Trial:
    path = folder / f"{number}.json"
    if not path.exists() or not path.stat().st_size:
        return Trial(number, None, error="it crashed, or took too long")
    return json.decode(path.read_bytes(), type=Trial)


class ForkShop:
    """What `Workshop` is to another process, for calls that were recorded in this one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # From a request to its process and its deadline.
        self._children: dict[int, tuple[int, float]] = {}

    def __enter__(self) -> ForkShop:
        warm_up()
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-mend-")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def ask(self, task: Any, plan: Plan = NO_PLAN, effects: Safety = "exact", **more: Any) -> int:
        number = len(self._children) + 1
        request = Request(number, task, plan, effects=effects, **more)
        child = start_child(request, self._recorder, Path(self._folder.name))
        self._children[number] = (child, time.monotonic() + request.seconds)
        return number

    def answer(self, number: int) -> Trial:
        child, deadline = self._children[number]
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(_TICK)
        return read_trial(Path(self._folder.name), number)
